import type { ComponentChildren } from 'preact'
import { useList } from '../../api/list.ts'
import type { AuditEntry } from '../../api/types.ts'
import { toLocalInput } from '../../format/time.ts'
import { place, setQuery } from '../../router/router.ts'
import { auditText as words } from '../../text/audit.ts'
import { SelectField, TextField } from '../form/fields.tsx'
import { FilterChip, Filters } from '../list/Filters.tsx'
import { type Column, Table } from '../list/Table.tsx'
import { Empty } from '../states.tsx'
import { Time } from '../Time.tsx'
import { Actor, Changes, nameIn } from './entry.tsx'

const PAGE_SIZE = 100
const FILTERS = ['account', 'action', 'actor', 'resource', 'from', 'to'] as const

interface Links {
  /** The page of what an entry is about. */
  hrefOf: (entry: AuditEntry) => string | null
  /** Its name today, where the page knows it. */
  nameOf: (entry: AuditEntry) => string | null | undefined
}

const Resource = ({ entry, hrefOf, nameOf }: Links & { entry: AuditEntry }) => {
  const { type, id } = entry.resource
  const name = nameIn(entry) ?? nameOf(entry)
  const href = hrefOf(entry)
  return (
    <span class="two-lines">
      <span>{words.typeName(type)}</span>
      {href ? (
        <a href={href}>{name ?? id}</a>
      ) : name ? (
        <b>{name}</b>
      ) : (
        <code class="muted">{id}</code>
      )}
    </span>
  )
}

const Details = ({ changes, requestId, address, actor, action, resource }: AuditEntry) => {
  const more = { actor: actor.id, resource: resource.id, action }
  return (
    <details class="audit-details">
      <summary>{changes.length > 0 ? words.count(changes.length) : words.details}</summary>
      <Changes changes={changes} />
      <p class="hint">
        {address && `${words.address}: ${address} · `}
        {words.request}: {requestId}
      </p>
      <p class="hint">
        {words.onlyThose}{' '}
        {(['actor', 'resource', 'action'] as const).map((name, at) => (
          <span key={name}>
            {at > 0 && ' · '}
            <a href={`${place.value.path}?${new URLSearchParams({ [name]: more[name] })}`}>
              {words.only[name]}
            </a>
          </span>
        ))}
      </p>
    </details>
  )
}

const choicesOf = (all: string, names: Record<string, string>) => [
  { value: '', label: all },
  ...Object.entries(names).map(([value, label]) => ({ value, label })),
]
const ACTORS = choicesOf(words.everybody, words.actors)

interface AuditListProps extends Links {
  of: 'GET /api/account/audit' | 'GET /admin/audit'
  kinds: Record<string, string>
  /** Columns after the one of the resource. */
  columns?: readonly Column<AuditEntry>[]
  /** Filters before the others. */
  children?: ComponentChildren
}

/** Who did what, with its filters, which are those of the address. */
export const AuditList = ({ of, kinds, columns = [], children, ...links }: AuditListProps) => {
  const { query } = place.value
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? '']))
  const { action = '', actor = '', resource } = given
  const pages = useList(of, 'entries', { query: { ...given, limit: PAGE_SIZE } })
  const isActor = actor === '' || actor in words.actors
  const isKind = action === '' || action in kinds
  return (
    <>
      <Filters>
        {children}
        <SelectField
          label={words.action}
          value={isKind ? action : ''}
          choices={choicesOf(words.everything, kinds)}
          onChange={(value) => setQuery({ action: value })}
        />
        <SelectField
          label={words.who}
          value={isActor ? actor : ''}
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
        {!isKind && (
          <FilterChip onClear={() => setQuery({ action: null })}>
            {words.actionName(action)}
          </FilterChip>
        )}
        {resource && (
          <FilterChip onClear={() => setQuery({ resource: null })}>{words.ofOne}</FilterChip>
        )}
        {!isActor && (
          <FilterChip onClear={() => setQuery({ actor: null })}>{words.byOne}</FilterChip>
        )}
      </Filters>
      <Table<AuditEntry>
        label={words.title}
        columns={[
          { key: 'action', label: words.action, cell: (entry) => words.actionName(entry.action) },
          { key: 'who', label: words.who, cell: (entry) => <Actor actor={entry.actor} /> },
          {
            key: 'resource',
            label: words.resource,
            cell: (entry) => <Resource entry={entry} {...links} />,
          },
          ...columns,
          { key: 'at', label: words.when, cell: ({ at }) => <Time value={at} /> },
          { key: 'changes', label: words.changes, cell: (entry) => <Details {...entry} /> },
        ]}
        pages={pages}
        empty={
          <Empty icon="search" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
      />
    </>
  )
}
