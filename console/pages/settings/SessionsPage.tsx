import { useState } from 'preact/hooks'
import { callForResponse } from '../../api/client.ts'
import { useAction, useResource } from '../../api/resource.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { Confirm } from '../../ui/dialog/Dialog.tsx'
import { Badge } from '../../ui/Page.tsx'
import { Empty, Failed, Refusal, Skeleton } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { browserName } from './browserName.ts'
import { SettingsFrame } from './SettingsFrame.tsx'

interface Session {
  id: string
  current: boolean
  userAgent: string
  creation: string
  lastUsed: string
  expires: string
}

const readSessions = async (signal: AbortSignal): Promise<Session[]> => {
  const response = await callForResponse('GET /api/Auth/Sessions', { signal })
  return ((await response.json()) as { sessions: Session[] }).sessions
}

const End = ({ one, onDone }: { one: Session; onDone: () => void }) => {
  const end = useAction(async () => {
    if (one.current) return session.signOut()
    await callForResponse('DELETE /api/Auth/Sessions/{sessionId}', {
      params: { sessionId: one.id },
    })
    toast(text.sessions.ended)
    onDone()
  })
  return (
    <>
      <Button size="small" icon="out" isPending={end.isPending} onClick={() => end.run()}>
        {one.current ? text.sessions.endHere : text.sessions.end}
      </Button>
      {end.error && <Refusal error={end.error} />}
    </>
  )
}

const EndAll = () => {
  const [isAsking, setIsAsking] = useState(false)
  const end = useAction(() => session.signOut(true))
  return (
    <>
      <Button icon="out" onClick={() => setIsAsking(true)}>
        {text.sessions.endAll}
      </Button>
      {isAsking && (
        <Confirm
          title={text.sessions.endAllTitle}
          confirmLabel={text.sessions.endAll}
          onConfirm={() => end.run()}
          onClose={() => setIsAsking(false)}
          isPending={end.isPending}
          error={end.error}
        >
          <p>{text.sessions.endAllQuestion}</p>
        </Confirm>
      )}
    </>
  )
}

export default () => {
  const { data, error, reload } = useResource(readSessions, [])
  return (
    <SettingsFrame
      title={text.settings.title}
      lead={text.sessions.lead}
      actions={data?.some(({ current }) => current) && <EndAll />}
    >
      {!data ? (
        error ? (
          <Failed error={error} onRetry={reload} />
        ) : (
          <Skeleton rows={4} />
        )
      ) : data.length === 0 ? (
        <Empty icon="user" title={text.sessions.emptyTitle}>
          {text.sessions.empty}
        </Empty>
      ) : (
        <ul class="card sessions" aria-label={text.settings.sessions}>
          {data.map((one) => (
            <li key={one.id}>
              <div>
                <p>
                  <b title={one.userAgent}>{browserName(one.userAgent)}</b>{' '}
                  {one.current && <Badge kind="good">{text.sessions.current}</Badge>}
                </p>
                <p class="hint">
                  {text.sessions.since} <Time value={one.creation} /> · {text.sessions.lastUsed}{' '}
                  <Time value={one.lastUsed} isRelative /> · {text.sessions.until}{' '}
                  <Time value={one.expires} />
                </p>
              </div>
              <End one={one} onDone={reload} />
            </li>
          ))}
        </ul>
      )}
    </SettingsFrame>
  )
}
