import { usePages } from '../../api/resource.ts'
import { EVENT_TYPES, type Event } from '../../api/types.ts'
import { LIVE_TYPES } from '../../live/stream.ts'
import { useLiveEvents } from '../../live/useLive.ts'
import { place, setQuery } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { SelectField } from '../../ui/form/fields.tsx'
import { DeviceLink } from '../../ui/links.tsx'
import { FilterChip, Filters } from '../../ui/list/Filters.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { eventName, KINDS, kindOf } from '../webhooks/eventTypes.ts'
import { readEvents } from './readEvents.ts'

const dataOf = (event: Event): Record<string, unknown> => event.data

/** What the event is about, with a link where there is a page for it. */
const Subject = ({ event }: { event: Event }) => {
  const data = dataOf(event)
  const { deviceId, alertId, watchId, name } = data
  return (
    <span class="two-lines">
      {typeof deviceId === 'string' && <DeviceLink id={deviceId} />}
      {typeof alertId === 'string' && <a href={`/alerts/${alertId}`}>{later.events.toAlert}</a>}
      {typeof watchId === 'string' && <a href={`/watches/${watchId}`}>{later.events.toWatch}</a>}
      {typeof deviceId !== 'string' && typeof name === 'string' && <span>{name}</span>}
    </span>
  )
}

const Data = ({ event }: { event: Event }) => (
  <details>
    <summary>{later.events.show}</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it. */}
    <pre class="answer" tabIndex={0}>
      {JSON.stringify(event.data, null, 2)}
    </pre>
  </details>
)

const columns: readonly Column<Event>[] = [
  { key: 'type', label: later.events.event, cell: ({ type }) => eventName(type) },
  { key: 'subject', label: later.events.about, cell: (event) => <Subject event={event} /> },
  { key: 'time', label: later.events.time, cell: ({ time }) => <Time value={time} /> },
  { key: 'data', label: later.events.data, cell: (event) => <Data event={event} /> },
  { key: 'number', label: later.events.number, cell: ({ sequence }) => sequence, isNumber: true },
]

const choices = [
  { value: '', label: later.events.everything },
  ...KINDS.map((kind) => ({ value: `${kind}.*`, label: eventName(`${kind}.*`) })),
  ...EVENT_TYPES.map((type) => ({ value: type, label: `– ${eventName(type)}` })),
].sort((a, b) => order(a.value) - order(b.value))

/** Each kind is followed by its types. */
function order(value: string): number {
  if (value === '') return -1
  const at = (EVENT_TYPES as readonly string[]).indexOf(value)
  return KINDS.indexOf(kindOf(value)) * 100 + (at === -1 ? 0 : at + 1)
}

export default () => {
  const { query } = place.value
  const types = query.get('type') ?? ''
  const devices = query.get('device') ?? ''
  const pages = usePages<Event>(
    (cursor, signal) => readEvents({ types, devices }, cursor, signal),
    [types, devices],
  )
  useLiveEvents(
    types === '' ? LIVE_TYPES : [types],
    (event) => {
      if (devices && event.data.deviceId !== devices) return
      pages.set((items) =>
        items.some(({ sequence }) => sequence === event.sequence)
          ? items
          : [event as unknown as Event, ...items],
      )
    },
    pages.reload,
  )
  return (
    <Page title={text.events.title} lead={later.events.lead}>
      <Filters>
        <SelectField
          label={later.events.event}
          value={types}
          choices={choices}
          onChange={(value) => setQuery({ type: value })}
        />
        {devices && (
          <FilterChip onClear={() => setQuery({ device: null })}>
            {text.messages.ofDevice}
          </FilterChip>
        )}
      </Filters>
      <Table
        label={text.events.title}
        columns={columns}
        pages={pages}
        empty={
          <Empty icon="event" title={later.events.emptyTitle}>
            {later.events.empty}
          </Empty>
        }
      />
    </Page>
  )
}
