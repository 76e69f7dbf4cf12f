import type { AuditEntry } from '../../api/types.ts'
import { formatDateTime } from '../../format/time.ts'
import { auditText as words } from '../../text/audit.ts'
import './audit.css'

/* The parts of an entry of the audit. */

const HIDDEN = '(hidden)'
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

const shown = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return words.unset
  if (value === HIDDEN) return words.hidden
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (Array.isArray(value)) return value.length === 0 ? words.unset : value.map(shown).join(', ')
  if (typeof value === 'string' && INSTANT.test(value)) return formatDateTime(value)
  if (typeof value !== 'object') return String(value)
  const members = Object.entries(value)
  return members.map(([name, member]) => `${words.inWords(name)} ${shown(member)}`).join(', ')
}

/** The name that the record got or had, if it is among the changes. */
export const nameIn = ({ changes }: Pick<AuditEntry, 'changes'>): string | null => {
  const { from, to } = changes.find(({ path }) => path === 'name') ?? {}
  return String(to ?? from ?? '') || null
}

const Before = ({ value }: { value: unknown }) => (
  <>
    <del>{shown(value)}</del> →{' '}
  </>
)

/** What changed, from what to what. */
export const Changes = ({ changes }: Pick<AuditEntry, 'changes'>) => (
  <ul class="plain-list audit-changes">
    {changes.map(({ path, from, to }) => (
      <li key={path}>
        {words.memberName(path)}: {(from ?? null) !== null && <Before value={from} />}
        <ins>{shown(to)}</ins>
      </li>
    ))}
  </ul>
)

/** Who did it. The name is the one of that time. */
export const Actor = ({ actor: { type, name, id } }: Pick<AuditEntry, 'actor'>) => (
  <span class="two-lines">
    <span>{name ?? (type === 'system' ? words.actors.system : id)}</span>
    {type !== 'system' && <span class="muted">{words.actors[type]}</span>}
  </span>
)
