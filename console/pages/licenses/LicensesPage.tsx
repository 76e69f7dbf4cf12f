import { useMemo } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { readAll, useList } from '../../api/list.ts'
import { rememberNames } from '../../api/names.ts'
import { useResource } from '../../api/resource.ts'
import type { Device, ReadLicenseLogReply } from '../../api/types.ts'
import { formatNumber } from '../../format/units.ts'
import { useLiveReload } from '../../live/useLive.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { DeviceLink } from '../../ui/links.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { Badge, Card, Page } from '../../ui/Page.tsx'
import { Empty, NotLoaded } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { Calendar } from './Calendar.tsx'
import './licenses.css'

type Entry = ReadLicenseLogReply['entries'][number]

const LIVE_TYPES = ['device.*', 'license.*']
const LOG_PAGE_SIZE = 50
const KINDS = {
  granted: 'good',
  released: 'plain',
  expired: 'warn',
  refused: 'bad',
  'total-changed': 'info',
  'zone-changed': 'info',
} as const

const readActiveDevices = async (signal: AbortSignal): Promise<Device[]> => {
  const devices = await readAll('GET /api/devices', 'devices', {
    query: { state: 'active' },
    signal,
  })
  rememberNames(devices)
  return devices
}

const InUse = () => {
  const licenses = useResource(
    async (signal) => (await call('GET /api/account', { signal })).account.licenses,
    [],
  )
  useLiveReload(LIVE_TYPES, licenses.reload)
  if (!licenses.data) return <NotLoaded of={licenses} rows={2} />
  const { used, total, available } = licenses.data
  return (
    <div class="license-use">
      <p class="figure">
        <b>{formatNumber(used)}</b> {text.licenses.ofTotal(formatNumber(total))}
      </p>
      <Meter label={text.licenses.inUse} used={used} of={total} />
      <p class="hint">{available > 0 ? text.licenses.free(available) : text.licenses.noneFree}</p>
    </div>
  )
}

const Expirations = () => {
  const devices = useResource(readActiveDevices, [])
  const { data } = devices
  useLiveReload(LIVE_TYPES, devices.reload)
  const byDay = useMemo(() => {
    const days = new Map<string, Device[]>()
    for (const device of data ?? []) {
      const { expires, expirationDate } = device.limits
      if (!expires || !expirationDate) continue
      days.set(expirationDate, [...(days.get(expirationDate) ?? []), device])
    }
    return days
  }, [data])
  if (!data) return <NotLoaded of={devices} />
  if (byDay.size === 0)
    return (
      <Empty icon="clock" title={text.licenses.nothingExpires}>
        {text.licenses.nothingExpiresHint}
      </Empty>
    )
  return <Calendar byDay={byDay} timeZone={session.me.value?.account.timeZone ?? 'UTC'} />
}

const columns: readonly Column<Entry>[] = [
  { key: 'time', label: text.licenses.time, cell: ({ time }) => <Time value={time} /> },
  {
    key: 'what',
    label: text.licenses.what,
    cell: ({ what }) => <Badge kind={KINDS[what]}>{text.licenses.changes[what]}</Badge>,
  },
  {
    key: 'device',
    label: text.licenses.device,
    cell: ({ deviceId }) => (deviceId ? <DeviceLink id={deviceId} /> : null),
  },
  {
    key: 'used',
    label: text.licenses.usedAfter,
    cell: ({ used, total }) => text.licenses.usedOf(formatNumber(used), formatNumber(total)),
    isNumber: true,
  },
]

const Log = () => {
  const query = { limit: LOG_PAGE_SIZE }
  const pages = useList('GET /api/account/licenses/log', 'entries', { query })
  useLiveReload(LIVE_TYPES, pages.reload)
  return (
    <Table
      label={text.licenses.log}
      columns={columns}
      pages={pages}
      rowKey={({ sequence }) => String(sequence)}
      empty={<Empty icon="license" title={text.licenses.emptyLog} />}
    />
  )
}

export default () => (
  <Page title={text.licenses.title} lead={text.licenses.lead}>
    <div class="license-columns">
      <Card title={text.licenses.inUse}>
        <InUse />
      </Card>
      <Card title={text.licenses.expiresNext}>
        <Expirations />
      </Card>
    </div>
    {session.me.value?.isConfined ? null : (
      <section class="stack">
        <h2>{text.licenses.log}</h2>
        <Log />
      </section>
    )}
  </Page>
)
