import { useState } from 'preact/hooks'
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

const Decision = ({ consent, query }: { consent: ConsentReply['consent']; query: string }) => {
  const { name, redirectHost, isLocal, allowedScopes } = consent
  const [scopes, setScopes] = useState<Scope[]>(allowedScopes)
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
          canSubmit={scopes.length > 0}
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
