import type { Source } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { Badge } from '../../ui/Page.tsx'
import { Time } from '../../ui/Time.tsx'

export const SourceState = ({ source }: { source: Source }) =>
  source.enabled ? (
    <Badge kind="good">{later.sources.enabled}</Badge>
  ) : (
    <Badge kind="plain">{later.sources.disabled}</Badge>
  )

export const LastReceived = ({ source: { lastReceived } }: { source: Source }) =>
  lastReceived ? (
    <Time value={lastReceived} isRelative />
  ) : (
    <span class="muted">{later.sources.nothingYet}</span>
  )
