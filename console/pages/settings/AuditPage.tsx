import { useList } from '../../api/list.ts'
import type { AuditEntry } from '../../api/types.ts'
import { toLocalInput } from '../../format/time.ts'
import { place, setQuery } from '../../router/router.ts'
import { auditText as words } from '../../text/audit.ts'
import { text } from '../../text/text.ts'
import { Actor, Changes } from '../../ui/audit/entry.tsx'
import { SelectField, TextField } from '../../ui/form/fields.tsx'
import { FilterChip, Filters } from '../../ui/list/Filters.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { SettingsFrame } from './SettingsFrame.tsx'

const PAGE_SIZE = 100
const FILTERS = ['action', 'actor', 'resource', 'from', 'to'] as const

/** The pages of what has one. */
const PAGES: Record<string, string> = {
  alert: '/alerts',
  device: '/devices',
  group: '/groups',
  rule: '/rules',
  source: '/sources',
  user: '/users',
  watch: '/watches',
  webhook: '/webhooks',
  zone: '/zones',
}

const Resource = ({ resource: { type, id } }: AuditEntry) => {
  const page = PAGES[type]
  return (
    <span class="two-lines">
      <span>{words.typeName(type)}</span>
      {page && id ? <a href={`${page}/${id}`}>{id}</a> : <code class="muted">{id}</code>}
    </span>
  )
}

const Details = ({ changes, requestId, address }: AuditEntry) => (
  <details>
    <summary>{changes.length > 0 ? words.count(changes.length) : words.details}</summary>
    <Changes changes={changes} />
    <p class="hint">
      {address && `${words.address}: ${address} · `}
      {words.request}: {requestId}
    </p>
  </details>
)

const columns: readonly Column<AuditEntry>[] = [
  { key: 'action', label: words.action, cell: ({ action }) => words.actionName(action) },
  { key: 'who', label: words.who, cell: ({ actor }) => <Actor actor={actor} /> },
  { key: 'resource', label: words.resource, cell: (entry) => <Resource {...entry} /> },
  { key: 'at', label: words.when, cell: ({ at }) => <Time value={at} /> },
  { key: 'changes', label: words.changes, cell: (entry) => <Details {...entry} /> },
]

const choicesOf = (all: string, names: Record<string, string>) => [
  { value: '', label: all },
  ...Object.entries(names).map(([value, label]) => ({ value, label })),
]
const KINDS = choicesOf(words.everything, words.kinds)
const ACTORS = choicesOf(words.everybody, words.actors)

export default () => {
  const { query } = place.value
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? '']))
  const { action = '', actor = '', resource } = given
  const pages = useList('GET /api/account/audit', 'entries', {
    query: { ...given, limit: PAGE_SIZE },
  })
  const isListed = (choices: typeof KINDS, value: string) =>
    choices.some((choice) => choice.value === value)
  return (
    <SettingsFrame title={text.settings.title} lead={words.lead}>
      <Filters>
        <SelectField
          label={words.action}
          value={isListed(KINDS, action) ? action : ''}
          choices={KINDS}
          onChange={(value) => setQuery({ action: value })}
        />
        <SelectField
          label={words.who}
          value={isListed(ACTORS, actor) ? actor : ''}
          choices={ACTORS}
          onChange={(value) => setQuery({ actor: value })}
        />
        {(['from', 'to'] as const).map((name) => (
          <TextField
            key={name}
            label={words[name]}
            type="datetime-local"
            value={given[name] ? toLocalInput(Date.parse(given[name])) : ''}
            onInput={(local) => setQuery({ [name]: local && new Date(local).toISOString() })}
          />
        ))}
        {resource && (
          <FilterChip onClear={() => setQuery({ resource: null })}>{words.ofOne}</FilterChip>
        )}
        {!isListed(ACTORS, actor) && (
          <FilterChip onClear={() => setQuery({ actor: null })}>{words.byOne}</FilterChip>
        )}
      </Filters>
      <Table
        label={words.title}
        columns={columns}
        pages={pages}
        empty={
          <Empty icon="search" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
      />
    </SettingsFrame>
  )
}
