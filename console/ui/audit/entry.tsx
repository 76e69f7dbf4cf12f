import type { AuditEntry } from '../../api/types.ts'
import { auditText as words } from '../../text/audit.ts'
import './audit.css'

/* The parts of an entry of the audit. */

const HIDDEN = '(hidden)'

const shown = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return words.unset
  if (value === HIDDEN) return words.hidden
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (Array.isArray(value)) return value.length === 0 ? words.unset : value.map(shown).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What changed, from what to what. */
export const Changes = ({ changes }: Pick<AuditEntry, 'changes'>) => (
  <ul class="plain-list audit-changes">
    {changes.map(({ path, from, to }) => (
      <li key={path}>
        {words.memberName(path)}: <del>{shown(from)}</del> → <ins>{shown(to)}</ins>
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
