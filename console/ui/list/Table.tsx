import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Pages } from '../../api/resource.ts'
import { text } from '../../text/text.ts'
import { Button } from '../Button.tsx'
import { Icon } from '../Icon.tsx'
import { Failed, Skeleton } from '../states.tsx'

export interface Column<T> {
  /** Also the name under which the column is sorted. */
  key: string
  label: string
  cell: (item: T) => ComponentChildren
  isSortable?: boolean
  /** Right-aligned, for figures. */
  isNumber?: boolean
  /** Left out on narrow screens, where each row is a card. */
  isMinor?: boolean
}

export interface TableProps<T> {
  /** What the table shows, for screen readers. */
  label: string
  columns: readonly Column<T>[]
  pages: Pages<T>
  /** Without it, the id. */
  rowKey?: (item: T) => string
  /** The address of a row. The link is in the first column. */
  href?: (item: T) => string
  /** `name` or `-name`. */
  sort?: string
  onSort?: (sort: string) => void
  empty: ComponentChildren
}

const SortHeader = ({
  column,
  sort,
  onSort,
}: {
  column: Column<never>
  sort: string
  onSort: (sort: string) => void
}) => {
  const isUp = sort === column.key
  const isDown = sort === `-${column.key}`
  return (
    <button
      type="button"
      class={`sort ${isUp || isDown ? 'active' : ''} ${isDown ? 'reversed' : ''}`}
      onClick={() => onSort(isUp ? `-${column.key}` : column.key)}
    >
      {column.label}
      <Icon name="down" size={14} />
    </button>
  )
}

const ariaSort = (key: string, sort: string | undefined) =>
  sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : undefined

/** A table that loads its next page as its reader scrolls to the end. */
export const Table = <T,>({
  label,
  columns,
  pages,
  rowKey = (item) => (item as { id: string }).id,
  href,
  sort,
  onSort,
  empty,
}: TableProps<T>) => {
  const { items, error, isPending, hasMore, loadMore, reload } = pages
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = end.current
    if (!element || !hasMore || error) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && loadMore(), {
      rootMargin: '600px',
    })
    observer.observe(element)
    return () => observer.disconnect()
  })
  if (items.length === 0) {
    if (isPending) return <Skeleton rows={8} />
    if (error) return <Failed error={error} onRetry={reload} />
    return <>{empty}</>
  }
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="visually-hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                class={`${column.isNumber ? 'number' : ''} ${column.isMinor ? 'minor' : ''}`}
                aria-sort={ariaSort(column.key, sort)}
              >
                {column.isSortable && onSort ? (
                  <SortHeader column={column as Column<never>} sort={sort ?? ''} onSort={onSort} />
                ) : (
                  column.label
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={rowKey(item)} class={href ? 'linked' : ''}>
              {columns.map((column, at) => (
                <td
                  key={column.key}
                  data-label={column.label}
                  class={`${column.isNumber ? 'number' : ''} ${column.isMinor ? 'minor' : ''}`}
                >
                  {at === 0 && href ? (
                    <a class="row-link" href={href(item)}>
                      {column.cell(item)}
                    </a>
                  ) : (
                    column.cell(item)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div ref={end} class="table-end">
        {error ? (
          <Failed error={error} onRetry={loadMore} />
        ) : isPending ? (
          <Skeleton rows={2} />
        ) : (
          hasMore && <Button onClick={loadMore}>{text.common.loadMore}</Button>
        )}
      </div>
    </div>
  )
}
