import { useState } from 'preact/hooks'
import { isBlocked, isSoundOn, setSound, testSound } from '../../alarm/sound.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { type PushBrowser, readBrowsers } from '../../push/api.ts'
import { canNotify, ownSubscriptionId, turnOff, turnOn } from '../../push/browser.ts'
import { session } from '../../session/session.ts'
import { alarmText } from '../../text/alarm.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { Button } from '../../ui/Button.tsx'
import { Switch } from '../../ui/form/Switch.tsx'
import { Badge, Card } from '../../ui/Page.tsx'
import { NotLoaded } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { browserName } from './browserName.ts'
import { SettingsFrame } from './SettingsFrame.tsx'

const words = later.notifications

interface Found {
  browsers: PushBrowser[]
  /** Of this browser, where the signed-in user has turned it on. */
  ownId: string | null
  /** Whether the user gets alerts by push at all. */
  isWanted: boolean
}

const readFound = async (signal: AbortSignal): Promise<Found> => {
  const [browsers, id, { user }] = await Promise.all([
    readBrowsers(signal),
    ownSubscriptionId(),
    call('GET /api/me', { signal }),
  ])
  const ownId = browsers.some((one) => one.id === id) ? id : null
  return { browsers, ownId, isWanted: user?.notify.push ?? true }
}

const Here = ({ ownId, onDone }: { ownId: string | null; onDone: () => void }) => {
  const [isDenied, setIsDenied] = useState(canNotify() && Notification.permission === 'denied')
  if (!canNotify()) return <p class="hint">{words.unsupported}</p>
  if (ownId)
    return (
      <div class="actions">
        <Badge kind="good">{words.isOn}</Badge>
        <ActionButton
          key="off"
          onAct={async () => {
            await turnOff(ownId)
            toast(words.turnedOff)
            onDone()
          }}
        >
          {words.turnOff}
        </ActionButton>
      </div>
    )
  return (
    <>
      <div class="actions">
        <ActionButton
          kind="primary"
          icon="alert"
          onAct={async () => {
            const isAllowed = await turnOn()
            setIsDenied(!isAllowed)
            if (isAllowed) toast(words.turnedOn)
            onDone()
          }}
        >
          {words.turnOn}
        </ActionButton>
      </div>
      {isDenied && (
        <p class="note" role="alert">
          {words.denied}
        </p>
      )}
    </>
  )
}

/** Whoever may change the own user gets a link to it. */
const PushOff = () => (
  <p class="note" role="status">
    <span>
      {words.pushOff}{' '}
      {session.can('admin') && <a href={`/users/${session.me.value?.user?.id}`}>{words.toUser}</a>}
    </span>
  </p>
)

const Browsers = ({
  browsers,
  ownId,
  onDone,
}: Omit<Found, 'isWanted'> & { onDone: () => void }) => (
  <ul class="sessions" aria-label={words.browsers}>
    {browsers.map(({ id, userAgent, endpoint, creation }) => (
      <li key={id}>
        <div>
          <p>
            <b title={userAgent}>{browserName(userAgent)}</b>{' '}
            {id === ownId && <Badge kind="good">{later.sessions.current}</Badge>}
          </p>
          <p class="hint">
            {later.sessions.since} <Time value={creation} /> · {words.by(endpoint)}
          </p>
        </div>
        <ActionButton
          size="small"
          icon="trash"
          onAct={async () => {
            await turnOff(id)
            toast(words.removed)
            onDone()
          }}
        >
          {words.remove}
        </ActionButton>
      </li>
    ))}
  </ul>
)

const PushCard = () => {
  const found = useResource(readFound, [])
  const { data } = found
  return (
    <Card title={words.push}>
      <div class="stack">
        <p class="hint">{words.pushHint}</p>
        {data ? (
          <>
            {!data.isWanted && <PushOff />}
            <Here ownId={data.ownId} onDone={found.reload} />
            {data.browsers.length > 0 && <Browsers {...data} onDone={found.reload} />}
          </>
        ) : (
          <NotLoaded of={found} rows={2} />
        )}
      </div>
    </Card>
  )
}

const SoundCard = () => (
  <Card title={words.sound}>
    <div class="stack">
      <p class="hint">{words.soundHint}</p>
      <div class="actions">
        <Switch label={words.soundSwitch} isOn={isSoundOn.value} onChange={setSound}>
          {isSoundOn.value ? words.soundOn : words.soundOff}
        </Switch>
        <Button icon="play" onClick={testSound}>
          {words.test}
        </Button>
      </div>
      {isBlocked.value && <p role="alert">{alarmText.blocked}</p>}
    </div>
  </Card>
)

export default () => (
  <SettingsFrame title={text.settings.title} lead={words.lead}>
    <div class="columns">
      {session.me.value?.user ? (
        <PushCard />
      ) : (
        <Card title={words.push}>
          <p class="hint">{words.needsUser}</p>
        </Card>
      )}
      <SoundCard />
    </div>
  </SettingsFrame>
)
