import type { Watch } from '../../api/types.ts'
import { formatDateTime, formatUtc, now } from '../../format/time.ts'
import { later } from '../../text/later.ts'
import { Badge } from '../../ui/Page.tsx'
import { countdownOf, formatCountdown } from './watchTimes.ts'

const KINDS = { active: 'info', overdue: 'bad', completed: 'good', cancelled: 'plain' } as const
const CLASSES = { ahead: '', grace: 'warn-text', overdue: 'bad-text' } as const

export const WatchState = ({ watch: { state } }: { watch: Watch }) => (
  <Badge kind={KINDS[state]}>{later.watches.states[state]}</Badge>
)

/** How long it is until the next deadline, or since it has passed. */
export const Deadline = ({ watch }: { watch: Watch }) => {
  const { nextDue } = watch
  const countdown = countdownOf(watch, now.value)
  if (!countdown) return <span class="muted">–</span>
  return (
    <time
      datetime={nextDue}
      title={`${formatDateTime(nextDue)} · ${formatUtc(nextDue)}`}
      class={CLASSES[countdown.kind]}
    >
      {formatCountdown(countdown)}
    </time>
  )
}
