import { EVENT_TYPES } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { Choices } from '../../ui/form/Choices.tsx'
import { CheckField } from '../../ui/form/fields.tsx'
import { eventName, KINDS, kindOf } from './eventTypes.ts'

interface EventChoiceProps {
  events: readonly string[]
  onChange: (events: string[]) => void
}

/** The types of one kind: all of them by one check box, or some. */
const Kind = ({ kind, events, onChange }: EventChoiceProps & { kind: string }) => {
  const pattern = `${kind}.*`
  const isWhole = events.includes(pattern)
  const others = events.filter((one) => kindOf(one) !== kind)
  return (
    <fieldset class="checks">
      <legend class="visually-hidden">{eventName(pattern)}</legend>
      <CheckField
        label={eventName(pattern)}
        isChecked={isWhole}
        onChange={(isOn) => onChange(isOn ? [...others, pattern] : others)}
      />
      {!isWhole && (
        <div class="sub-checks">
          {EVENT_TYPES.filter((type) => kindOf(type) === kind).map((type) => (
            <CheckField
              key={type}
              label={eventName(type)}
              isChecked={events.includes(type)}
              onChange={(isOn) =>
                onChange(isOn ? [...events, type] : events.filter((one) => one !== type))
              }
            />
          ))}
        </div>
      )}
    </fieldset>
  )
}

export const EventChoice = ({ events, onChange }: EventChoiceProps) => {
  const isAll = events.includes('*')
  return (
    <div class="stack">
      <Choices
        label={later.webhooks.which}
        value={isAll ? 'all' : 'some'}
        choices={[
          { value: 'all', label: later.webhooks.allEvents },
          { value: 'some', label: later.webhooks.someEvents },
        ]}
        onChange={(value) => onChange(value === 'all' ? ['*'] : ['alert.*'])}
      />
      {!isAll &&
        KINDS.map((kind) => <Kind key={kind} kind={kind} events={events} onChange={onChange} />)}
    </div>
  )
}
