import { CHANNELS } from '../../format/channels.ts'
import { later } from '../../text/later.ts'
import { alertLabel, text } from '../../text/text.ts'
import { bindFields } from '../../ui/form/draft.ts'
import { SeveralField } from '../../ui/form/fieldGroups.tsx'
import { CheckField, choicesOf, TextArea, TextField } from '../../ui/form/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { alertNameFor } from './condition.ts'
import type { RulePartProps } from './RuleForm.tsx'

/** The alert that the rule raises, and who is notified. */
export const AlertFields = (props: RulePartProps) => {
  const { draft } = props
  const bind = bindFields(props)
  return (
    <Card title={later.rules.alert}>
      <div class="stack">
        <TextField
          label={later.rules.alertName}
          hint={later.rules.alertNameHint(alertLabel(alertNameFor(draft.when.type)))}
          {...bind.text('alertName')}
          maxLength={64}
          isOptional
        />
        <TextArea
          label={later.rules.alertText}
          hint={later.rules.alertTextHint}
          {...bind.text('text')}
          rows={2}
          maxLength={2000}
          isOptional
        />
        <SeveralField
          label={later.rules.notifications}
          options={choicesOf(CHANNELS, text.messages.channels)}
          {...bind.several('notifications')}
        />
        <CheckField
          label={later.rules.emergency}
          hint={later.rules.emergencyHint}
          {...bind.check('emergency')}
        />
      </div>
    </Card>
  )
}

const TUNED = ['/hysteresis', '/cooldownMinutes', '/lateMinutes']

/** What few rules need. It opens where the service refuses something in it. */
export const TuningFields = (props: RulePartProps) => {
  const { error } = props
  const bind = bindFields(props)
  const hysteresis = bindFields({ ...props, under: '/hysteresis' })
  const isRefused = error?.problem?.errors?.some(({ pointer }) =>
    TUNED.some((start) => pointer.startsWith(start)),
  )
  return (
    <Card>
      <details open={isRefused || undefined}>
        <summary>{later.rules.details}</summary>
        <div class="fields tuning">
          <TextField
            label={later.rules.cooldown}
            hint={later.rules.cooldownHint}
            {...bind.text('cooldownMinutes')}
          />
          <TextField
            label={later.rules.late}
            hint={later.rules.lateHint}
            {...bind.text('lateMinutes')}
          />
          <TextField
            label={later.rules.hysteresisMetres}
            hint={later.rules.hysteresisMetresHint}
            {...hysteresis.text('metres')}
          />
          <TextField label={later.rules.hysteresisFixes} {...hysteresis.text('fixes')} />
        </div>
      </details>
    </Card>
  )
}
