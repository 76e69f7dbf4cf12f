import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { Scope, Session } from '../../api/types.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { ConfirmButton } from '../../ui/dialog/ConfirmButton.tsx'
import { Badge } from '../../ui/Page.tsx'
import { Empty, NotLoaded } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { browserName } from './browserName.ts'
import { SettingsFrame } from './SettingsFrame.tsx'

const readSessions = async (signal: AbortSignal): Promise<Session[]> =>
  (await call('GET /api/Auth/Sessions', { signal })).sessions

const mayDo = (scopes: readonly Scope[]): string =>
  later.sessions.agentMay(scopes.map((scope) => later.keys.scopeNames[scope]).join(', '))

const End = ({ one, onDone }: { one: Session; onDone: () => void }) => (
  <ActionButton
    size="small"
    icon="out"
    onAct={async () => {
      if (one.current) return session.signOut()
      await call('DELETE /api/Auth/Sessions/{sessionId}', { params: { sessionId: one.id } })
      toast(one.agent ? later.sessions.agentEnded : later.sessions.ended)
      onDone()
    }}
  >
    {one.current
      ? later.sessions.endHere
      : one.agent
        ? later.sessions.endAgent
        : later.sessions.end}
  </ActionButton>
)

const EndAll = () => (
  <ConfirmButton
    icon="out"
    label={later.sessions.endAll}
    title={later.sessions.endAllTitle}
    question={later.sessions.endAllQuestion}
    confirmLabel={later.sessions.endAll}
    onConfirm={() => session.signOut(true)}
  />
)

export default () => {
  const sessions = useResource(readSessions, [])
  const { data } = sessions
  return (
    <SettingsFrame
      title={text.settings.title}
      lead={later.sessions.lead}
      actions={data?.some(({ current }) => current) && <EndAll />}
    >
      {!data ? (
        <NotLoaded of={sessions} rows={4} />
      ) : data.length === 0 ? (
        <Empty icon="user" title={later.sessions.emptyTitle}>
          {later.sessions.empty}
        </Empty>
      ) : (
        <ul class="card sessions" aria-label={text.settings.sessions}>
          {data.map((one) => (
            <li key={one.id}>
              <div>
                <p>
                  <b title={one.userAgent}>{one.agent?.name ?? browserName(one.userAgent)}</b>{' '}
                  {one.agent && <Badge kind="info">{mayDo(one.agent.scopes)}</Badge>}
                  {one.current && <Badge kind="good">{later.sessions.current}</Badge>}
                </p>
                <p class="hint">
                  {later.sessions.since} <Time value={one.creation} /> · {later.sessions.lastUsed}{' '}
                  <Time value={one.lastUsed} isRelative /> · {later.sessions.until}{' '}
                  <Time value={one.expires} />
                </p>
              </div>
              <End one={one} onDone={sessions.reload} />
            </li>
          ))}
        </ul>
      )}
    </SettingsFrame>
  )
}
