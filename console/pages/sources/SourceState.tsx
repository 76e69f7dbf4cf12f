import type { Source } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { Badge } from '../../ui/Page.tsx'
import { Time } from '../../ui/Time.tsx'

export const SourceState = ({ source }: { source: Source }) =>
  source.enabled ? (
    <Badge kind="good">{text.sources.enabled}</Badge>
  ) : (
    <Badge kind="plain">{text.sources.disabled}</Badge>
  )

export const LastReceived = ({ source: { lastReceived } }: { source: Source }) =>
  lastReceived ? (
    <Time value={lastReceived} isRelative />
  ) : (
    <span class="muted">{text.sources.nothingYet}</span>
  )
