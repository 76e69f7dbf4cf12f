import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { Watch } from '../../api/types.ts'
import type { PageProps } from '../../app/routes.ts'
import { formatDateTime } from '../../format/time.ts'
import { useLiveReload } from '../../live/useLive.ts'
import { usePolling } from '../../live/usePolling.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { alertLabel, text } from '../../text/text.ts'
import { WhoChanged } from '../../ui/audit/WhoChanged.tsx'
import { LinkButton } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { DeviceLink } from '../../ui/links.tsx'
import { Card, Facts, Page } from '../../ui/Page.tsx'
import { Unloaded } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { Cancel, CheckIn, CheckInLink, Complete, DeleteWatch, Extend } from './actions.tsx'
import { Deadline, WatchState } from './WatchState.tsx'
import { isRunning } from './watches.ts'
import './watches.css'
import { formatMinutes } from './watchTimes.ts'

const LIVE_TYPES = ['watch.*', 'alert.raised']
const parent = { href: '/watches', label: text.watches.title }

/** An answer that was on its way while something was done here is older than what is shown. */
const isOlder = (read: Watch, shown: Watch): boolean =>
  read.id !== shown.id || read.lastModified < shown.lastModified

const readWatch = async (watchId: string, signal: AbortSignal): Promise<Watch> =>
  (await call('GET /api/watches/{watchId}', { params: { watchId }, signal })).watch

/** An alert that joined another emergency has no page of its own. */
const Overdue = ({ watch: { alertId, deviceId } }: { watch: Watch }) => (
  <div class="refusal watch-overdue" role="alert">
    <Icon name="warning" />
    <p>
      {later.watches.overdueTitle}{' '}
      <a href={alertId ? `/alerts/${alertId}` : `/alerts?device=${deviceId}`}>
        {alertId ? later.watches.toAlert : later.watches.toAlerts}
      </a>
    </p>
  </div>
)

const promiseOf = ({ everyMinutes, nextDue }: Watch): string =>
  everyMinutes
    ? later.watches.every(formatMinutes(everyMinutes))
    : later.watches.by(formatDateTime(nextDue))

const reminderOf = ({ remindMinutes }: Watch): string => {
  if (remindMinutes === null) return text.common.none
  return remindMinutes === 0
    ? later.watches.atDeadline
    : later.watches.before(formatMinutes(remindMinutes))
}

const Details = ({ watch }: { watch: Watch }) => (
  <Card title={later.watches.details}>
    <Facts
      facts={[
        [later.watches.state, <WatchState key="state" watch={watch} />],
        [later.watches.device, <DeviceLink key="device" id={watch.deviceId} />],
        [later.watches.promise, promiseOf(watch)],
        ...(isRunning(watch)
          ? ([
              [
                later.watches.deadline,
                <span key="deadline">
                  <Time value={watch.nextDue} /> · <Deadline watch={watch} />
                </span>,
              ],
            ] as const)
          : []),
        [later.watches.lastCheckIn, <Time key="last" value={watch.lastCheckIn} isRelative />],
        [
          later.watches.graceTime,
          watch.graceMinutes > 0 ? formatMinutes(watch.graceMinutes) : text.common.none,
        ],
        [later.watches.counts, later.watches.countNames[watch.counts]],
        [later.watches.reminder, reminderOf(watch)],
        [
          later.watches.raises,
          `${alertLabel(watch.alertName)}${watch.emergency ? `, ${later.watches.emergencyNote}` : ''}`,
        ],
        [
          later.watches.notifications,
          watch.notifications.map((one) => text.messages.channels[one]).join(', ') ||
            text.common.none,
        ],
        ...(watch.alertId && watch.state !== 'overdue'
          ? ([
              [
                later.watches.lastAlert,
                <a key="alert" href={`/alerts/${watch.alertId}`}>
                  {later.watches.toAlert}
                </a>,
              ],
            ] as const)
          : []),
        [later.watches.created, <Time key="created" value={watch.creation} />],
        [later.watches.changed, <Time key="changed" value={watch.lastModified} />],
      ]}
    />
  </Card>
)

export default ({ params: { watchId = '' } }: PageProps) => {
  const {
    data: watch,
    error,
    reload,
    set,
  } = useResource((signal) => readWatch(watchId, signal), [watchId])
  const [endedId, setEndedId] = useState('')
  useLiveReload(LIVE_TYPES, reload)
  // Nothing says that it was extended or ended elsewhere.
  usePolling(async (signal) => {
    const read = await readWatch(watchId, signal)
    set((shown) => (isOlder(read, shown) ? shown : read))
  })
  if (!watch || error?.status === 404)
    return (
      <Page title={later.watches.watch} parent={parent}>
        <Unloaded error={error} onRetry={reload} icon="clock" />
      </Page>
    )
  const given = {
    watch,
    onDone: (changed: Watch) => set(() => changed),
    onEnded: () => {
      setEndedId(watchId)
      reload()
    },
  }
  return (
    <Page
      title={watch.name}
      parent={parent}
      actions={
        session.can('write') && (
          <>
            {isRunning(watch) && (
              <>
                <CheckIn {...given} />
                <Extend {...given} />
                <Complete {...given} />
                <Cancel {...given} />
                <CheckInLink watch={watch} />
                <LinkButton icon="edit" href={`/watches/${watch.id}/edit`}>
                  {text.common.edit}
                </LinkButton>
              </>
            )}
            <DeleteWatch watch={watch} />
          </>
        )
      }
    >
      {endedId === watchId && (
        <div class="refusal" role="alert">
          <Icon name="warning" />
          <p>{later.watches.ended}</p>
        </div>
      )}
      {watch.state === 'overdue' && <Overdue watch={watch} />}
      <Details watch={watch} />
      <WhoChanged key={`audit-${watch.id}`} id={watch.id} />
    </Page>
  )
}
