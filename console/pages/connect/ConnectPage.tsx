import { useEffect, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction, useResource } from '../../api/resource.ts'
import type { ConsentReply, Scope } from '../../api/types.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { SeveralField } from '../../ui/form/fieldGroups.tsx'
import { Card, Facts, Page } from '../../ui/Page.tsx'
import { Empty, NotLoaded } from '../../ui/states.tsx'

/* A program asks by OAuth to act for the user. The service has sent the browser here. */

/** Sends the answer. The service has checked where it goes; other kinds of addresses run code. */
const decide = async (query: string, scopes: Scope[]): Promise<void> => {
  const { redirectTo } = await call('POST /api/Auth/Consent', { body: { query, scopes } })
  if (/^https?:\/\//.test(redirectTo)) location.assign(redirectTo)
}

/** A click that was meant for another window must not allow access. */
const READABLE_AFTER_MS = 1000

/** Whether the page has been visible and focused for long enough to be read. */
const useIsReadable = (): boolean => {
  const [isReadable, setIsReadable] = useState(false)
  useEffect(() => {
    let timer = 0
    const restart = () => {
      clearTimeout(timer)
      setIsReadable(false)
      if (document.visibilityState === 'visible' && document.hasFocus())
        timer = window.setTimeout(() => setIsReadable(true), READABLE_AFTER_MS)
    }
    restart()
    document.addEventListener('visibilitychange', restart)
    window.addEventListener('focus', restart)
    window.addEventListener('blur', restart)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', restart)
      window.removeEventListener('focus', restart)
      window.removeEventListener('blur', restart)
    }
  }, [])
  return isReadable
}

/** The user chooses these: they reach further than most programs need. */
const NOT_PRESELECTED: Scope[] = ['admin', 'execute']

const Decision = ({ consent, query }: { consent: ConsentReply['consent']; query: string }) => {
  const { name, redirectHost, isLocal, allowedScopes } = consent
  const [scopes, setScopes] = useState<Scope[]>(
    allowedScopes.filter((scope) => !NOT_PRESELECTED.includes(scope)),
  )
  const isReadable = useIsReadable()
  const allow = useAction(() => decide(query, scopes))
  const me = session.me.value
  const refuse = <ActionButton onAct={() => decide(query, [])}>{later.connect.refuse}</ActionButton>
  const facts = [
    [later.connect.program, name],
    [later.connect.sentTo, isLocal ? later.connect.local(redirectHost) : redirectHost],
    [later.connect.as, `${me?.user?.name ?? ''} · ${me?.account.userName ?? ''}`],
  ] as const
  return (
    <Card title={later.connect.question(name)}>
      <Facts facts={facts} />
      {allowedScopes.length === 0 ? (
        <Empty icon="warning" title={later.connect.nothing} action={refuse} />
      ) : (
        <Form
          submitLabel={later.connect.allow}
          action={allow}
          canSubmit={isReadable && scopes.length > 0}
          actions={refuse}
        >
          <p class="hint">{later.connect.unchecked}</p>
          <SeveralField
            label={later.connect.scopes}
            pointer="/scopes"
            error={allow.error}
            values={scopes}
            onChange={setScopes}
            options={allowedScopes.map((value) => ({
              value,
              label: later.keys.scopeNames[value],
              hint: later.keys.scopeHints[value],
            }))}
          />
          <p class="hint">{later.connect.revoke}</p>
        </Form>
      )}
    </Card>
  )
}

export default () => {
  const query = location.search.slice(1)
  const asked = useResource(
    async (signal) => (await call('GET /api/Auth/Consent', { query: { query }, signal })).consent,
    [query],
  )
  return (
    <Page title={later.connect.title} lead={later.connect.lead}>
      {asked.data ? (
        <Decision consent={asked.data} query={query} />
      ) : (
        <NotLoaded of={asked} rows={4} />
      )}
    </Page>
  )
}
