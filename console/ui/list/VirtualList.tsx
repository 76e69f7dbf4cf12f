import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface VirtualListProps<T> {
  label: string
  items: readonly T[]
  /** All rows have the same height. */
  rowPx: number
  itemKey: (item: T) => string
  row: (item: T) => ComponentChildren
}

const EXTRA_ROWS = 8

/** A list that only has the visible rows in the document, so that 10,000 stay fast. */
export const VirtualList = <T,>({ label, items, rowPx, itemKey, row }: VirtualListProps<T>) => {
  const frame = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [])
  const first = Math.max(0, Math.floor(view.top / rowPx) - EXTRA_ROWS)
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowPx) + EXTRA_ROWS)
  return (
    <div class="virtual" ref={frame}>
      <ul
        aria-label={label}
        style={{
          paddingTop: `${first * rowPx}px`,
          paddingBottom: `${(items.length - last) * rowPx}px`,
        }}
      >
        {items.slice(first, last).map((item, at) => (
          <li
            key={itemKey(item)}
            style={{ height: `${rowPx}px` }}
            aria-setsize={items.length}
            aria-posinset={first + at + 1}
          >
            {row(item)}
          </li>
        ))}
      </ul>
    </div>
  )
}
