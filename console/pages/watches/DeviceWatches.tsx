import { useResource } from '../../api/resource.ts'
import { useLiveReload } from '../../live/useLive.ts'
import { usePolling } from '../../live/usePolling.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { Card } from '../../ui/Page.tsx'
import { NotLoaded } from '../../ui/states.tsx'
import { readWatches } from './readWatches.ts'
import { Deadline, WatchState } from './WatchState.tsx'
import { isRunning } from './watches.ts'
import './watches.css'

const LIVE_TYPES = ['watch.*']
const POLLING_MS = 60_000

/** The running check-ins of a device. */
export const DeviceWatches = ({ deviceId }: { deviceId: string }) => {
  const watches = useResource(
    async (signal) => (await readWatches({ deviceId, signal })).filter(isRunning),
    [deviceId],
  )
  useLiveReload(LIVE_TYPES, watches.reload)
  // Nothing says that one was started, extended or ended elsewhere.
  usePolling(async () => watches.reload(), POLLING_MS)
  return (
    <Card title={text.watches.title}>
      <div class="stack">
        {!watches.data ? (
          <NotLoaded of={watches} rows={2} />
        ) : watches.data.length === 0 ? (
          <p class="muted">{later.watches.none}</p>
        ) : (
          <ul class="device-watches">
            {watches.data.map((watch) => (
              <li key={watch.id}>
                <a href={`/watches/${watch.id}`}>{watch.name}</a>
                <WatchState watch={watch} />
                <Deadline watch={watch} />
              </li>
            ))}
          </ul>
        )}
        <div class="card-links">
          {session.can('write') && (
            <LinkButton icon="plus" size="small" href={`/watches/new?device=${deviceId}`}>
              {later.watches.add}
            </LinkButton>
          )}
          <LinkButton icon="clock" size="small" href={`/watches?show=all&device=${deviceId}`}>
            {later.watches.ofDevice}
          </LinkButton>
        </div>
      </div>
    </Card>
  )
}
