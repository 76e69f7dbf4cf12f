import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import type { ScheduleEntry } from '../../api/types.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { Button } from '../../ui/Button.tsx'
import { bindFields } from '../../ui/form/draft.ts'
import { SeveralField } from '../../ui/form/fieldGroups.tsx'
import { choicesOf, TextField } from '../../ui/form/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import type { RulePartProps } from './RuleForm.tsx'
import { EMPTY_TIME } from './ruleDraft.ts'

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

interface EntryProps {
  entry: ScheduleEntry
  index: number
  onChange: (changes: Partial<ScheduleEntry>) => void
  onRemove: () => void
  error: PerigeeError | null
}

const Entry = ({ entry, index, onChange, onRemove, error }: EntryProps) => {
  const under = `/schedule/${index}`
  const bind = bindFields({ draft: entry, change: onChange, error, under })
  return (
    <fieldset class="schedule-entry stack">
      <legend class="field-legend">{later.rules.time(index + 1)}</legend>
      <SeveralField
        label={later.rules.days}
        options={choicesOf(DAYS, later.rules.weekdays)}
        {...bind.several('days')}
      />
      <div class="pair">
        <TextField label={later.rules.from} type="time" {...bind.text('from')} />
        <TextField label={later.rules.to} type="time" {...bind.text('to')} />
      </div>
      <div>
        <Button size="small" icon="trash" onClick={onRemove}>
          {later.rules.removeTime(index + 1)}
        </Button>
      </div>
    </fieldset>
  )
}

/** When the rule is in force. */
export const ScheduleFields = ({ draft: { schedule }, change, error }: RulePartProps) => {
  const set = (index: number, changes: Partial<ScheduleEntry>) =>
    change({
      schedule: schedule.map((entry, at) => (at === index ? { ...entry, ...changes } : entry)),
    })
  return (
    <Card title={later.rules.schedule}>
      <div class="stack">
        <p class="hint">{later.rules.scheduleHint(session.me.value?.account.timeZone ?? '')}</p>
        {schedule.length === 0 && <p>{later.rules.always}</p>}
        {schedule.map((entry, index) => (
          <Entry
            key={index}
            entry={entry}
            index={index}
            onChange={(changes) => set(index, changes)}
            onRemove={() => change({ schedule: schedule.filter((_, at) => at !== index) })}
            error={error}
          />
        ))}
        <div>
          <Button
            size="small"
            icon="plus"
            onClick={() => change({ schedule: [...schedule, EMPTY_TIME] })}
          >
            {later.rules.addTime}
          </Button>
        </div>
      </div>
    </Card>
  )
}
