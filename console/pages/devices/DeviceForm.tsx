import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { useAction } from '../../api/resource.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { TagsField } from '../../ui/form/fieldGroups.tsx'
import { CheckField, TextArea, TextField } from '../../ui/form/fields.tsx'
import { PhoneField } from '../../ui/form/PhoneField.tsx'
import { Card } from '../../ui/Page.tsx'
import './devices.css'
import type { DeviceDraft } from './deviceFormState.ts'
import { LicenseRefusal } from './LicenseRefusal.tsx'

const MAX_DAILY = 100_000

interface DeviceFormProps {
  initial: DeviceDraft
  submitLabel: string
  cancelHref: string
  save: (draft: DeviceDraft) => Promise<void>
}

interface PartProps {
  draft: DeviceDraft
  change: (changes: Partial<DeviceDraft>) => void
  error: PerigeeError | null
}

const General = (props: PartProps) => {
  const { draft, change, error } = props
  const bind = bindFields(props)
  return (
    <Card title={text.devices.general}>
      <div class="stack">
        <TextField
          label={text.devices.name}
          {...bind.text('name')}
          maxLength={200}
          required
          autofocus
        />
        <TextField
          label={text.devices.identifier}
          hint={text.devices.identifierHint}
          {...bind.text('identifier')}
          isOptional
          isCode
        />
        <TextField label={text.devices.model} {...bind.text('model')} isOptional />
        <PhoneField label={text.devices.min} hint={text.devices.minHint} {...bind.text('min')} />
        <TextArea label={text.devices.description} {...bind.text('description')} isOptional />
        <TextField
          label={text.devices.maxSpeed}
          hint={text.devices.maxSpeedHint}
          type="number"
          min={0}
          {...bind.text('maxSpeed')}
        />
        <TagsField tags={draft.tags} onChange={(tags) => change({ tags })} error={error} />
      </div>
    </Card>
  )
}

const Reserve = ({ draft: { reserve }, change, error }: PartProps) => {
  const bind = bindFields({
    draft: reserve,
    change: (changes) => change({ reserve: { ...reserve, ...changes } }),
    error,
    under: '/limits/emergencyReserve',
  })
  return (
    <>
      <div class="pair">
        <TextField
          label={text.devices.reserveEmails}
          type="number"
          min={0}
          {...bind.text('email')}
        />
        <TextField label={text.devices.reserveSms} type="number" min={0} {...bind.text('sms')} />
      </div>
      <p class="hint">{text.devices.reserveHint}</p>
    </>
  )
}

const Limits = (props: PartProps) => {
  const bind = bindFields({ ...props, under: '/limits' })
  const daily = { type: 'number', min: 0, max: MAX_DAILY } as const
  return (
    <Card title={text.devices.limits}>
      <div class="stack">
        <CheckField
          label={text.devices.expiresLabel}
          hint={text.devices.expiresHint(session.me.value?.account.timeZone ?? '')}
          {...bind.check('expires')}
        />
        {props.draft.expires && (
          <TextField
            label={text.devices.expirationDate}
            type="date"
            {...bind.text('expirationDate')}
          />
        )}
        <div class="pair">
          <TextField
            label={text.devices.dailyEmailLimit}
            {...daily}
            {...bind.text('dailyEmailLimit')}
          />
          <TextField
            label={text.devices.dailySmsLimit}
            {...daily}
            {...bind.text('dailySmsLimit')}
          />
        </div>
        <p class="hint">{text.devices.limitHint}</p>
        <Reserve {...props} />
      </div>
    </Card>
  )
}

export const DeviceForm = ({ initial, save, ...form }: DeviceFormProps) => {
  const { draft, change } = useDraft(initial)
  const action = useAction(() => save(draft))
  const { error } = action
  const part = { draft, change, error }
  return (
    <Form {...form} action={action} refusal={error && <LicenseRefusal error={error} />}>
      <div class="columns">
        <General {...part} />
        <Limits {...part} />
      </div>
    </Form>
  )
}
