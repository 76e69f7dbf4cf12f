import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { OpenSandboxReply } from '../../api/types.ts'
import { formatDay } from '../../format/time.ts'
import { later } from '../../text/later.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { CodeLine, ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { Refusal } from '../../ui/states.tsx'
import { Copied } from './AccountUse.tsx'

const words = later.sandboxes

/** Opens a sandbox and lists those that the account has. */
export const Sandboxes = () => {
  const [opened, setOpened] = useState<OpenSandboxReply | null>(null)
  const own = useResource((signal) => call('GET /api/account/sandbox', { signal }), [])
  const open = async () => setOpened(await call('POST /api/account/sandbox', { body: {} }))
  const close = () => {
    setOpened(null)
    own.reload()
  }
  return (
    <div class="stack">
      <p>{words.lead}</p>
      {own.error && <Refusal error={own.error} />}
      {own.data && own.data.sandboxes.length > 0 && (
        <ul>
          {own.data.sandboxes.map(({ id, name, userName, erasesAt }) => (
            <li key={id}>
              <b>{name}</b> <Copied value={userName} />
              <p class="hint">
                {erasesAt === null ? words.kept : words.erases(formatDay(erasesAt.slice(0, 10)))}
              </p>
            </li>
          ))}
        </ul>
      )}
      <div class="card-actions">
        <ActionButton icon="plus" onAct={open}>
          {words.open}
        </ActionButton>
      </div>
      {opened && (
        <ShownOnce
          title={words.opened(opened.sandbox.name)}
          label={words.apiKey}
          value={opened.apiKey ?? null}
          onClose={close}
        >
          <CodeLine label={words.userName} value={opened.sandbox.userName} />
          {opened.signInUrl && (
            <>
              <CodeLine label={words.signIn} value={opened.signInUrl} />
              <p class="hint">{words.signInHint}</p>
            </>
          )}
        </ShownOnce>
      )}
    </div>
  )
}
