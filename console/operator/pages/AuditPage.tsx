import { useList } from '../../api/list.ts'
import type { AuditEntry } from '../../api/types.ts'
import { toLocalInput } from '../../format/time.ts'
import { place, setQuery } from '../../router/router.ts'
import { operatorText as words } from '../../text/operator.ts'
import { Actor, Changes } from '../../ui/audit/entry.tsx'
import { useDelayedInput } from '../../ui/form/delayedInput.ts'
import { TextField } from '../../ui/form/fields.tsx'
import { Filters } from '../../ui/list/Filters.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'

const PAGE_SIZE = 100
const TEXTS = ['account', 'actor', 'action', 'resource'] as const
const TIMES = ['from', 'to'] as const

const Details = ({ entry: { changes, requestId, address } }: { entry: AuditEntry }) => (
  <details>
    <summary>
      {changes.length > 0 ? words.audit.changes(changes.length) : words.audit.details}
    </summary>
    <Changes changes={changes} />
    <p class="hint">
      {address && `${words.audit.address}: ${address} · `}
      {words.audit.request}: {requestId}
    </p>
  </details>
)

const COLUMNS: readonly Column<AuditEntry>[] = [
  { key: 'at', label: words.audit.when, cell: ({ at }) => <Time value={at} /> },
  { key: 'actor', label: words.audit.actor, cell: ({ actor }) => <Actor actor={actor} /> },
  { key: 'action', label: words.audit.action, cell: ({ action }) => <code>{action}</code> },
  {
    key: 'resource',
    label: words.audit.resource,
    cell: ({ resource }) => (
      <span class="two-lines">
        <span>{resource.type}</span>
        <code class="muted">{resource.id}</code>
      </span>
    ),
  },
  {
    key: 'account',
    label: words.audit.account,
    cell: ({ account }) =>
      account ? (
        <a href={`/operator/accounts/${account}`}>{account}</a>
      ) : (
        <span class="muted">{words.audit.service}</span>
      ),
  },
  { key: 'details', label: words.audit.details, cell: (entry) => <Details entry={entry} /> },
]

const HINTS = {
  account: words.audit.accountHint,
  actor: words.audit.actorHint,
  action: words.audit.actionHint,
  resource: words.audit.resourceHint,
}

const TextFilter = ({ name, value }: { name: (typeof TEXTS)[number]; value: string }) => {
  const { typed, type } = useDelayedInput(value, (next) => setQuery({ [name]: next.trim() }))
  return (
    <TextField
      label={words.audit[name]}
      placeholder={HINTS[name]}
      value={typed}
      onInput={type}
      autocomplete="off"
    />
  )
}

/** Who did what, in all accounts. */
export const AuditPage = () => {
  const { query } = place.value
  const filters = Object.fromEntries(
    [...TEXTS, ...TIMES].map((name) => [name, query.get(name) ?? '']),
  )
  const pages = useList('GET /admin/audit', 'entries', { query: { ...filters, limit: PAGE_SIZE } })
  return (
    <Page title={words.audit.title} lead={words.audit.lead}>
      <Filters>
        {TEXTS.map((name) => (
          <TextFilter key={name} name={name} value={filters[name] ?? ''} />
        ))}
        {TIMES.map((name) => (
          <TextField
            key={name}
            label={words.audit[name]}
            type="datetime-local"
            value={filters[name] ? toLocalInput(Date.parse(filters[name])) : ''}
            onInput={(local) => setQuery({ [name]: local && new Date(local).toISOString() })}
          />
        ))}
      </Filters>
      <Table
        label={words.audit.title}
        columns={COLUMNS}
        pages={pages}
        empty={
          <Empty icon="search" title={words.audit.emptyTitle}>
            {words.audit.empty}
          </Empty>
        }
      />
    </Page>
  )
}
