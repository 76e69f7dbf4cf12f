import { toLocalInput } from '../../format/time.ts'
import { text } from '../../text/text.ts'
import { Choices } from './Choices.tsx'
import { TextField } from './fields.tsx'
import { type ChosenSpan, lastSpan, SPAN_NAMES, spanFault } from './span.ts'

interface SpanFieldProps {
  value: ChosenSpan
  onChange: (span: ChosenSpan) => void
}

const CHOICES = SPAN_NAMES.map((value) => ({ value, label: text.trips.spans[value] }))

/** A time span of at most 31 days. */
export const SpanField = ({ value, onChange }: SpanFieldProps) => {
  const fault = spanFault(value)
  const set = (name: 'from' | 'to') => (local: string) => {
    if (local) onChange({ ...value, [name]: new Date(local).toISOString() })
  }
  return (
    <div class="stack">
      <Choices
        label={text.trips.span}
        isLabelHidden
        value={value.name}
        choices={CHOICES}
        onChange={(name) =>
          onChange(name === 'custom' ? { ...value, name } : lastSpan(name, Date.now()))
        }
      />
      {value.name === 'custom' && (
        <div class="pair">
          <TextField
            label={text.trips.from}
            type="datetime-local"
            value={toLocalInput(Date.parse(value.from))}
            onInput={set('from')}
          />
          <TextField
            label={text.trips.to}
            type="datetime-local"
            value={toLocalInput(Date.parse(value.to))}
            onInput={set('to')}
            invalid={fault && text.trips[fault]}
          />
        </div>
      )}
    </div>
  )
}
