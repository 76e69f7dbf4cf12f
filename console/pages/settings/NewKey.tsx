import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Key, NewKeyReply, User } from '../../api/types.ts'
import { DAY_MS, toLocalInput } from '../../format/time.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/dialog/Dialog.tsx'
import { CodeLine, ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { SeveralField } from '../../ui/form/fieldGroups.tsx'
import { SelectField, TextField } from '../../ui/form/fields.tsx'
import { Refusal } from '../../ui/states.tsx'

export const SCOPES = ['ingest', 'read', 'write', 'execute', 'admin'] as const
type Scope = Key['scopes'][number]
type Lifetime = 'never' | '30' | '90' | '365' | 'custom'
const LIFETIMES: readonly Lifetime[] = ['never', '30', '90', '365', 'custom']

/** A command that gets a token with the key: proof that it works. */
export const curlLine = (apiKey: string): string => {
  const userName = session.me.value?.account.userName ?? ''
  const body = JSON.stringify({ userName, apiKey })
  const url = `${location.origin}/api/Auth/Token`
  return `curl -sS ${url} -H 'Content-Type: application/json' -d '${body}'`
}

interface KeySecretProps {
  made: NewKeyReply
  onClose: () => void
}

export const KeySecret = ({ made, onClose }: KeySecretProps) => (
  <ShownOnce
    title={text.keys.secretTitle(made.key.name)}
    label={text.keys.secret}
    value={made.apiKey}
    onClose={onClose}
  >
    {made.apiKey !== null && (
      <>
        <p>{text.keys.tryIt}</p>
        <CodeLine label={text.keys.curl} value={curlLine(made.apiKey)} />
      </>
    )}
  </ShownOnce>
)

const expiryOf = (lifetime: Lifetime, until: string): string | null => {
  if (lifetime === 'never') return null
  if (lifetime === 'custom') return until ? new Date(until).toISOString() : null
  return new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString()
}

const choiceOf = ({ id, name, email }: Pick<User, 'id' | 'name' | 'email'>) => ({
  value: id,
  label: `${name} (${email})`,
})

/** A key of a user has no more scopes than who makes it. Reporting is a part of changing. */
const canGrant = (scope: Scope): boolean => session.can(scope === 'ingest' ? 'write' : scope)

interface NewKeyProps {
  users: readonly User[]
  onMade: (made: NewKeyReply) => void
  onClose: () => void
}

export const NewKey = ({ users, onMade, onClose }: NewKeyProps) => {
  // Who is signed in as a user can only make keys that are bound to the same user.
  const own = session.me.value?.user ?? null
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['read'])
  const [userId, setUserId] = useState(own?.id ?? '')
  const [lifetime, setLifetime] = useState<Lifetime>('never')
  const [until, setUntil] = useState(toLocalInput(Date.now() + 7 * DAY_MS))
  const create = useAction(async () => {
    const expires = expiryOf(lifetime, until)
    const body = { name, scopes: [...scopes], userId: userId || null, expires }
    onMade(await call('POST /api/account/keys', { body }))
  })
  const { error } = create
  return (
    <Dialog
      title={text.keys.generate}
      onClose={onClose}
      onSubmit={() => !create.isPending && void create.run()}
      actions={
        <>
          <Button onClick={onClose}>{text.common.cancel}</Button>
          <Button type="submit" kind="primary" isPending={create.isPending}>
            {text.keys.generateConfirm}
          </Button>
        </>
      }
    >
      <div class="stack">
        <TextField
          label={text.keys.name}
          hint={text.keys.nameHint}
          value={name}
          onInput={setName}
          pointer="/name"
          error={error}
          maxLength={200}
          autocomplete="off"
          autofocus
          required
        />
        <SeveralField
          label={text.keys.may}
          values={scopes}
          options={SCOPES.filter(canGrant).map((value) => ({
            value,
            label: text.keys.scopeNames[value],
            hint: text.keys.scopeHints[value],
          }))}
          onChange={setScopes}
          pointer="/scopes"
          error={error}
        />
        <SelectField
          label={text.keys.user}
          hint={own ? text.keys.ownUserHint : text.keys.userHint}
          value={userId}
          disabled={own !== null}
          choices={
            own ? [choiceOf(own)] : [{ value: '', label: text.keys.noUser }, ...users.map(choiceOf)]
          }
          onChange={setUserId}
          pointer="/userId"
          error={error}
        />
        <SelectField
          label={text.keys.expires}
          value={lifetime}
          choices={LIFETIMES.map((value) => ({ value, label: text.keys.lifetimes[value] }))}
          onChange={setLifetime}
          pointer="/expires"
          error={error}
        />
        {lifetime === 'custom' && (
          <TextField
            label={text.keys.until}
            type="datetime-local"
            value={until}
            onInput={setUntil}
            pointer="/expires"
            error={error}
          />
        )}
        {error && <Refusal error={error} />}
      </div>
    </Dialog>
  )
}
