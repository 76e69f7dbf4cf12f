import { deviceName } from '../../api/names.ts'
import { usePages } from '../../api/resource.ts'
import type { Watch } from '../../api/types.ts'
import { useLiveReload } from '../../live/useLive.ts'
import { usePolling } from '../../live/usePolling.ts'
import { place, setQuery } from '../../router/router.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { Choices } from '../../ui/form/Choices.tsx'
import { choicesOf } from '../../ui/form/fields.tsx'
import { SearchInput } from '../../ui/form/SearchInput.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { DeviceLink } from '../../ui/links.tsx'
import { FilterChip, Filters } from '../../ui/list/Filters.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { readWatches } from './readWatches.ts'
import { Deadline, WatchState } from './WatchState.tsx'
import { isShown, readWatchFilters, SHOWS } from './watchFilters.ts'

const LIVE_TYPES = ['watch.*']
/** Nothing says that one was started, extended or ended elsewhere. */
const POLLING_MS = 60_000

const columns: readonly Column<Watch>[] = [
  {
    key: 'name',
    label: later.watches.watch,
    cell: ({ name, state }) => (
      <span class={state === 'overdue' ? 'alert-name emergency' : 'alert-name'}>
        {state === 'overdue' && <Icon name="warning" size={16} />}
        <b>{name}</b>
      </span>
    ),
  },
  {
    key: 'device',
    label: later.watches.device,
    cell: ({ deviceId }) => <DeviceLink id={deviceId} />,
  },
  { key: 'state', label: later.watches.state, cell: (watch) => <WatchState watch={watch} /> },
  { key: 'deadline', label: later.watches.deadline, cell: (watch) => <Deadline watch={watch} /> },
  {
    key: 'lastCheckIn',
    label: later.watches.lastCheckIn,
    cell: ({ lastCheckIn }) => <Time value={lastCheckIn} isRelative />,
  },
]

export default () => {
  const filters = readWatchFilters(place.value.query)
  const { show, name, device } = filters
  const pages = usePages(
    async (_, signal) => ({ items: await readWatches({ signal }), nextCursor: null }),
    [],
  )
  useLiveReload(LIVE_TYPES, pages.reload)
  usePolling(async (signal) => {
    const items = await readWatches({ signal })
    pages.set(() => items)
  }, POLLING_MS)
  const isNone = pages.items.length === 0
  const add = session.can('write') && (
    <LinkButton
      kind="primary"
      icon="plus"
      href={`/watches/new${device && `?device=${encodeURIComponent(device)}`}`}
    >
      {later.watches.add}
    </LinkButton>
  )
  return (
    <Page title={text.watches.title} lead={later.watches.lead} actions={add}>
      <Filters>
        <Choices
          label={later.watches.show}
          isLabelHidden
          value={show}
          choices={choicesOf(SHOWS, later.watches.shows)}
          onChange={(chosen) => setQuery({ show: chosen === 'running' ? null : chosen })}
        />
        <SearchInput
          label={later.watches.search}
          value={name}
          onInput={(typed) => setQuery({ name: typed })}
        />
        {device && (
          <FilterChip onClear={() => setQuery({ device: null })}>
            {text.alerts.ofDevice(deviceName(device) ?? device)}
          </FilterChip>
        )}
      </Filters>
      <Table
        label={text.watches.title}
        columns={columns}
        pages={{ ...pages, items: pages.items.filter((watch) => isShown(watch, filters)) }}
        href={({ id }) => `/watches/${id}`}
        empty={
          <Empty icon="clock" title={later.watches.emptyTitle} action={isNone && add}>
            {isNone ? later.watches.empty : later.watches.nothingFound}
          </Empty>
        }
      />
    </Page>
  )
}
