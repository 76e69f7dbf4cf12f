import { describeAgo, formatLongTime } from '../domain/message/alertText.ts'
import { escapeHtml } from '../domain/text/html.ts'
import { isRunning, settleWatch, type WatchProgress } from '../domain/watch/watch.ts'
import { page, row } from '../links/present.ts'
import type { LinkedWatch } from './progress.ts'

/* The page by which people check in without signing in. */

/** The same for every link that cannot be used, so that it does not show why. */
export const presentNoWatch = (): string =>
  page(
    'Link not valid',
    `<h1>This link is not valid</h1>
<p>The check-in may have ended, or the link was not copied completely.</p>
<p>If somebody expects you to check in, do it by other means.</p>`,
  )

/** What is expected next. */
const describeState = ({ state, nextDue }: WatchProgress, timeZone: string, now: number) => {
  if (state === 'completed')
    return '<p class="state"><strong>Completed.</strong> No further check-in is expected.</p>'
  if (state === 'cancelled')
    return '<p class="state"><strong>Cancelled.</strong> No check-in is expected.</p>'
  const due = formatLongTime(nextDue, timeZone)
  if (state === 'overdue')
    return `<p class="state open"><strong>Overdue.</strong> A check-in was due ${due}.</p>`
  return nextDue <= now
    ? `<p class="state open"><strong>Check in now.</strong> It was due ${due}.</p>`
    : `<p class="state"><strong>Next check-in due</strong> ${due}.</p>`
}

const FORM = `<form method="post"><button>Check in</button></form>
<p><small>Says that all is well. Those who look after the device can see it.</small></p>`

/** `isDone`: right after a check-in. */
export const presentLinkedWatch = (
  watch: LinkedWatch,
  { now, isDone }: { now: number; isDone: boolean },
): string => {
  const { name, deviceName, timeZone } = watch
  const { progress } = settleWatch(watch, now)
  const { lastCheckIn: last } = progress
  const title = `Check-in: ${deviceName}`
  const lastShown =
    last === null ? 'None yet' : `${formatLongTime(last, timeZone)}, ${describeAgo(last, now)}`
  return page(
    title,
    `<h1>${escapeHtml(title)}</h1>
${isDone ? '<p class="state done"><strong>Checked in.</strong> Thank you.</p>' : ''}
${describeState(progress, timeZone, now)}
${isRunning(progress) ? FORM : ''}
<dl>
${row('Check-in', escapeHtml(name))}
${row('Device', escapeHtml(deviceName))}
${row('Last check-in', lastShown)}
</dl>`,
  )
}
