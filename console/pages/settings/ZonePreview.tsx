import { readAll } from '../../api/list.ts'
import { useResource } from '../../api/resource.ts'
import type { Account, Device } from '../../api/types.ts'
import { dayIn, formatDay } from '../../format/time.ts'
import { text } from '../../text/text.ts'
import { Icon } from '../../ui/Icon.tsx'
import { NotLoaded } from '../../ui/states.tsx'
import { previewZone } from './zoneChange.ts'

const MAX_NAMES = 10

const readDevices = (signal: AbortSignal): Promise<Device[]> =>
  readAll('GET /api/devices', 'devices', { signal })

const Names = ({ devices }: { devices: readonly Device[] }) => (
  <ul>
    {devices.slice(0, MAX_NAMES).map(({ id, name }) => (
      <li key={id}>{name}</li>
    ))}
    {devices.length > MAX_NAMES && <li>{text.settings.andMore(devices.length - MAX_NAMES)}</li>}
  </ul>
)

/** What a change of the time zone would do to licenses, before it is made. */
export const ZonePreview = ({ account, timeZone }: { account: Account; timeZone: string }) => {
  const devices = useResource(readDevices, [])
  const { data } = devices
  if (!data) return <NotLoaded of={devices} rows={2} />
  const at = Date.now()
  const { today, expiring, reviving, missing } = previewZone(data, account.licenses, timeZone, at)
  const kind = missing > 0 ? 'bad' : expiring.length + reviving.length > 0 ? 'warn' : 'plain'
  return (
    <div class={`zone-preview ${kind}`} role="status">
      <Icon name={kind === 'plain' ? 'info' : 'warning'} />
      <div>
        <p>
          {text.settings.todayIs(formatDay(today), today === dayIn(account.timeZone, at))}{' '}
          {text.settings.zoneShifts}
        </p>
        {expiring.length === 0 && reviving.length === 0 && <p>{text.settings.zoneNothing}</p>}
        {expiring.length > 0 && (
          <>
            <p>{text.settings.zoneExpires(expiring.length)}</p>
            <Names devices={expiring} />
          </>
        )}
        {reviving.length > 0 && (
          <>
            <p>{text.settings.zoneRevives(reviving.length)}</p>
            <Names devices={reviving} />
          </>
        )}
        {missing > 0 && <p>{text.settings.zoneRefused(missing)}</p>}
      </div>
    </div>
  )
}
