import { loadAccount } from '../../api/account.ts'
import { call } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useAction } from '../../api/resource.ts'
import type { Device } from '../../api/types.ts'
import { DAY_MS, now } from '../../format/time.ts'
import { useLiveEvents } from '../../live/useLive.ts'
import { navigate } from '../../router/router.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { LicenseRefusal } from './LicenseRefusal.tsx'

const LIVE_TYPES = ['device.deleted', 'device.restored']

const Restore = ({ device: { id, name } }: { device: Device }) => {
  const { run, isPending, error } = useAction(async () => {
    await call('POST /api/devices/{deviceId}/restore', { params: { deviceId: id } })
    toast(later.deletedDevices.restored(name))
    void loadAccount().catch(() => undefined)
    navigate(`/devices/${id}`)
  })
  return (
    <>
      <Button size="small" icon="refresh" isPending={isPending} onClick={() => run()}>
        {later.deletedDevices.restore}
      </Button>
      {error && <LicenseRefusal error={error} />}
    </>
  )
}

const daysLeft = ({ restorableUntil }: Device): number =>
  Math.floor((Date.parse(restorableUntil ?? '') - now.value) / DAY_MS)

const COLUMNS: readonly Column<Device>[] = [
  {
    key: 'name',
    label: text.devices.name,
    cell: ({ name, identifier, model }) => (
      <span class="two-lines">
        <b>{name}</b>
        <span class="muted">{identifier ?? model}</span>
      </span>
    ),
  },
  {
    key: 'deleted',
    label: later.deletedDevices.deletedAt,
    cell: ({ deletedAt }) => <Time value={deletedAt ?? null} isRelative />,
  },
  {
    key: 'left',
    label: later.deletedDevices.daysLeft,
    cell: (device) => later.deletedDevices.days(daysLeft(device)),
  },
  {
    key: 'actions',
    label: text.common.actions,
    cell: (device) => session.can('write') && <Restore device={device} />,
  },
]

/** The devices that were deleted lately, and can be restored. */
export const DeletedDevices = () => {
  const pages = useList('GET /api/devices', 'devices', { query: { deleted: true, limit: 100 } })
  useLiveEvents(LIVE_TYPES, pages.reload, pages.reload)
  return (
    <Table
      label={later.deletedDevices.label}
      columns={COLUMNS}
      pages={pages}
      empty={
        <Empty icon="device" title={later.deletedDevices.emptyTitle}>
          {later.deletedDevices.empty}
        </Empty>
      }
    />
  )
}
