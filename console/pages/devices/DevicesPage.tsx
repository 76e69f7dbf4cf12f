import { useEffect } from 'preact/hooks'
import { account, loadAccount } from '../../api/account.ts'
import { readDevices } from '../../api/devices.ts'
import { useList } from '../../api/list.ts'
import { readGroups } from '../../api/people.ts'
import { type Pages, useResource } from '../../api/resource.ts'
import type { Device } from '../../api/types.ts'
import { formatDay } from '../../format/time.ts'
import type { LiveEvent } from '../../live/stream.ts'
import { useLiveEvents } from '../../live/useLive.ts'
import { usePolling } from '../../live/usePolling.ts'
import { place, setQuery } from '../../router/router.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { SearchInput } from '../../ui/form/SearchInput.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Badge, Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { quarantinedText } from '../../ui/Waiting.tsx'
import { DeletedDevices } from './DeletedDevices.tsx'
import { DeviceBadge } from './DeviceBadge.tsx'
import './devices.css'

const PAGE_SIZE = 100
const LIVE_TYPES = ['device.*']
const REAPPEARS = /^device\.(created|restored)$/
/** Contacts, positions and quarantine have no events here; of long lists the first rows are read. */
const POLL_MS = 30_000
const MAX_POLLED = 300

const COLUMNS: readonly Column<Device>[] = [
  {
    key: 'name',
    label: text.devices.name,
    isSortable: true,
    cell: ({ name, identifier, model }) => (
      <span class="two-lines">
        <span>{name}</span>
        <span class="muted">{identifier ?? model}</span>
      </span>
    ),
  },
  {
    key: 'state',
    label: text.devices.state,
    cell: (device) => (
      <span class="badges">
        <DeviceBadge device={device} />
        {device.quarantined > 0 && (
          <Badge kind="warn">{text.quarantine.count(quarantinedText(device))}</Badge>
        )}
      </span>
    ),
  },
  {
    key: 'position',
    label: text.devices.lastPosition,
    cell: ({ lastLocation }) => <Time value={lastLocation?.dateTime ?? null} isRelative />,
  },
  {
    key: 'contact',
    label: text.devices.lastContact,
    isMinor: true,
    cell: ({ lastContact }) => <Time value={lastContact} isRelative />,
  },
  {
    key: 'messages',
    label: text.devices.messagesToday,
    isNumber: true,
    isMinor: true,
    cell: ({ usage }) => usage.emailsSent + usage.smsSent,
  },
  {
    key: 'expires',
    label: text.devices.expires,
    cell: ({ limits }) =>
      limits.expires && limits.expirationDate ? (
        formatDay(limits.expirationDate)
      ) : (
        <span class="muted">{text.devices.noExpiry}</span>
      ),
  },
  {
    key: 'creation',
    label: text.devices.created,
    isSortable: true,
    isMinor: true,
    cell: ({ creation }) => <Time value={creation} />,
  },
]

const replaceRows = (devices: readonly Device[]) => {
  const found = new Map(devices.map((device) => [device.id, device]))
  return (items: Device[]) => items.map((item) => found.get(item.id) ?? item)
}

/** Changes the row of an event in place, so that a reader far down the list stays there. */
const follow = async (
  { type, data: { deviceId } }: LiveEvent,
  set: Pages<Device>['set'],
  reload: () => void,
): Promise<void> => {
  if (REAPPEARS.test(type) || typeof deviceId !== 'string') return reload()
  if (type === 'device.deleted') return set((items) => items.filter(({ id }) => id !== deviceId))
  set(replaceRows(await readDevices([deviceId])))
}

interface Filter {
  q: string
  state: string
  group: string
}

const Filters = ({ q, state, group }: Filter) => {
  const groups = useResource(readGroups, [])
  const isDeleted = state === 'deleted'
  return (
    <div class="toolbar">
      {!isDeleted && (
        <SearchInput
          label={text.devices.search}
          value={q}
          onInput={(value) => setQuery({ q: value })}
        />
      )}
      <select
        class="input narrow"
        aria-label={text.devices.state}
        value={state}
        onChange={({ currentTarget }) => setQuery({ state: currentTarget.value })}
      >
        <option value="">{text.devices.anyState}</option>
        <option value="active">{text.devices.active}</option>
        <option value="expired">{text.devices.expired}</option>
        <option value="deleted">{text.devices.deleted}</option>
      </select>
      {!isDeleted && (
        <select
          class="input narrow"
          aria-label={text.devices.group}
          value={group}
          onChange={({ currentTarget }) => setQuery({ group: currentTarget.value })}
        >
          <option value="">{text.devices.anyGroup}</option>
          {(groups.data ?? []).map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </div>
  )
}

const createButton = () =>
  session.can('write') && (
    <LinkButton kind="primary" icon="plus" href="/devices/new">
      {text.devices.create}
    </LinkButton>
  )

const DeviceList = ({ q, state, group }: Filter) => {
  const sort = place.value.query.get('sort') ?? 'name'
  const pages = useList('GET /api/devices', 'devices', {
    query: { contains: q, state, group, sort, limit: PAGE_SIZE },
  })
  const { reload, set } = pages
  useLiveEvents(
    LIVE_TYPES,
    // Without an answer the row stays as it is, until the next event or the next visit.
    (event) => void follow(event, set, reload).catch(() => undefined),
    reload,
  )
  usePolling(async (signal) => {
    const ids = pages.items.slice(0, MAX_POLLED).map(({ id }) => id)
    set(replaceRows(await readDevices(ids, signal)))
  }, POLL_MS)
  const isFiltered = q !== '' || state !== '' || group !== ''
  return (
    <Table
      label={text.devices.title}
      columns={COLUMNS}
      pages={pages}
      href={({ id }) => `/devices/${id}`}
      sort={sort}
      onSort={(value) => setQuery({ sort: value === 'name' ? null : value })}
      empty={
        isFiltered ? (
          <Empty icon="search" title={text.devices.noMatchTitle}>
            {text.devices.noMatch}
          </Empty>
        ) : (
          <Empty icon="device" title={text.devices.emptyTitle} action={createButton()}>
            {text.devices.empty}
          </Empty>
        )
      }
    />
  )
}

export default () => {
  const { query } = place.value
  const [q, state, group] = [query.get('q'), query.get('state'), query.get('group')].map(
    (value) => value ?? '',
  ) as [string, string, string]
  useEffect(() => void loadAccount().catch(() => undefined), [])
  const licenses = account.value?.licenses
  return (
    <Page
      title={text.devices.title}
      lead={licenses && text.devices.lead(licenses.used, licenses.total)}
      actions={createButton()}
    >
      <Filters q={q} state={state} group={group} />
      {state === 'deleted' ? <DeletedDevices /> : <DeviceList q={q} state={state} group={group} />}
    </Page>
  )
}
