import { CHANNELS } from '../../format/channels.ts'
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
    <Card title={text.rules.alert}>
      <div class="stack">
        <TextField
          label={text.rules.alertName}
          hint={text.rules.alertNameHint(alertLabel(alertNameFor(draft.when.type)))}
          {...bind.text('alertName')}
          maxLength={64}
          isOptional
        />
        <TextArea
          label={text.rules.alertText}
          hint={text.rules.alertTextHint}
          {...bind.text('text')}
          rows={2}
          maxLength={2000}
          isOptional
        />
        <SeveralField
          label={text.rules.notifications}
          options={choicesOf(CHANNELS, text.messages.channels)}
          {...bind.several('notifications')}
        />
        <CheckField
          label={text.rules.emergency}
          hint={text.rules.emergencyHint}
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
        <summary>{text.rules.details}</summary>
        <div class="fields tuning">
          <TextField
            label={text.rules.cooldown}
            hint={text.rules.cooldownHint}
            {...bind.text('cooldownMinutes')}
          />
          <TextField
            label={text.rules.late}
            hint={text.rules.lateHint}
            {...bind.text('lateMinutes')}
          />
          <TextField
            label={text.rules.hysteresisMetres}
            hint={text.rules.hysteresisMetresHint}
            {...hysteresis.text('metres')}
          />
          <TextField label={text.rules.hysteresisFixes} {...hysteresis.text('fixes')} />
        </div>
      </details>
    </Card>
  )
}
