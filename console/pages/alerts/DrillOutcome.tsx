import type { Alert } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Badge } from '../../ui/Page.tsx'

type Outcome = NonNullable<Alert['drill']>
type Person = Outcome['reached'][number] | Outcome['notReached'][number]

const nameOf = ({ name, contact, user }: Person) => name ?? contact ?? user ?? ''
const keyOf = (one: Person) => `${one.user ?? nameOf(one)} ${one.channel}`

/** Who a test of the emergency chain has reached, and how fast. */
export const DrillOutcome = ({ drill: { reached, notReached } }: { drill: Outcome }) => (
  <div class="stack">
    <p>
      <b>{later.drill.outcome(reached.length, reached.length + notReached.length)}</b>
    </p>
    <ul class="deliveries">
      {reached.map((one) => (
        <li key={keyOf(one)}>
          <div>
            <b>{nameOf(one)}</b>
            <span class="muted">{text.messages.channels[one.channel]}</span>
          </div>
          <Badge kind="good">{later.drill.after(one.seconds)}</Badge>
        </li>
      ))}
      {notReached.map((one) => (
        <li key={keyOf(one)}>
          <div>
            <b>{nameOf(one)}</b>
            <span class="muted">{text.messages.channels[one.channel]}</span>
          </div>
          <Badge kind="warn">{later.drill.notReached[one.status]}</Badge>
        </li>
      ))}
    </ul>
  </div>
)
