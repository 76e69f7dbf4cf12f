import { formatAgo, formatDateTime, formatUtc } from '../format/time.ts'
import { text } from '../text/text.ts'

interface TimeProps {
  value: string | null
  /** "2 h ago" instead of the date. */
  isRelative?: boolean
}

/** A time in the viewer's zone, with UTC on hover. */
export const Time = ({ value, isRelative = false }: TimeProps) => {
  if (value === null) return <span class="muted">{text.common.never}</span>
  const title = isRelative ? `${formatDateTime(value)} · ${formatUtc(value)}` : formatUtc(value)
  return (
    <time datetime={value} title={title}>
      {isRelative ? formatAgo(value) : formatDateTime(value)}
    </time>
  )
}
