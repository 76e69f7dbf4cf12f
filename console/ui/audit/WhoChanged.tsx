import { useState } from 'preact/hooks'
import { useList } from '../../api/list.ts'
import { isAdmin } from '../../api/people.ts'
import { auditText as words } from '../../text/audit.ts'
import { Failed, Skeleton } from '../states.tsx'
import { Time } from '../Time.tsx'
import { Actor, Changes } from './entry.tsx'

const SHOWN = 10

export const auditHref = (id: string): string => `/settings/audit?resource=${id}`

const Entries = ({ id }: { id: string }) => {
  const { items, error, isPending, hasMore, reload } = useList(
    'GET /api/account/audit',
    'entries',
    { query: { resource: id, limit: SHOWN } },
  )
  if (error) return <Failed error={error} onRetry={reload} />
  if (isPending) return <Skeleton rows={3} />
  if (items.length === 0) return <p class="muted">{words.none}</p>
  return (
    <>
      <ul class="plain-list">
        {items.map((entry) => (
          <li key={entry.id}>
            <b>{words.actionName(entry.action)}</b> · <Time value={entry.at} />
            <Actor actor={entry.actor} />
            <Changes changes={entry.changes} />
          </li>
        ))}
      </ul>
      {hasMore && <a href={auditHref(id)}>{words.all}</a>}
    </>
  )
}

/** The last entries of the audit about one thing, for administrators. Read when it is opened. */
export const WhoChanged = ({ id }: { id: string }) => {
  const [isOpen, setIsOpen] = useState(false)
  if (!isAdmin()) return null
  return (
    <details
      class="card who-changed"
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <summary>{words.whoChanged}</summary>
      {isOpen && <Entries id={id} />}
    </details>
  )
}
