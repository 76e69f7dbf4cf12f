import { useState } from 'preact/hooks'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Source } from '../../api/types.ts'
import { setLeaveGuard } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Choices } from '../../ui/form/Choices.tsx'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import {
  CheckField,
  choicesOf,
  SecretField,
  SelectField,
  TextField,
} from '../../ui/form/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { toast } from '../../ui/toast.tsx'
import { PortalSteps } from './PortalSteps.tsx'
import { PROVIDERS } from './samples.ts'
import {
  bodyOf,
  draftOf,
  patchOf,
  type SourceDraft,
  SPEED_UNITS,
  settingsOf,
} from './sourceFormState.ts'
import './sources.css'

interface PartProps {
  draft: SourceDraft
  change: (changes: Partial<SourceDraft>) => void
  error: PerigeeError | null
  isNew: boolean
}

const NEW_DEVICES = choicesOf(['hold', 'create'], later.sources.newDevicesChoices)

const General = ({ isNew, ...props }: PartProps) => {
  const { draft, change } = props
  const bind = bindFields(props)
  return (
    <Card title={later.sources.general}>
      <div class="stack">
        <TextField
          label={later.sources.name}
          hint={later.sources.nameHint}
          {...bind.text('name')}
          maxLength={200}
          required
          autofocus={isNew}
        />
        <SelectField
          label={later.sources.provider}
          {...bind.choice('provider')}
          choices={PROVIDERS.map((value) => ({ value, label: later.providers[value].name }))}
          disabled={!isNew}
        />
        {settingsOf(draft).includes('speedUnit') && (
          <SelectField
            label={later.sources.speedUnit}
            hint={later.sources.speedUnitHint}
            {...bindFields({ ...props, under: '/settings' }).choice('speedUnit')}
            choices={SPEED_UNITS}
          />
        )}
        <div>
          <Choices
            label={later.sources.newDevices}
            value={draft.newDevices}
            choices={NEW_DEVICES}
            onChange={(newDevices) => change({ newDevices })}
          />
          <p class="hint">{later.sources.newDevicesHints[draft.newDevices]}</p>
        </div>
        <CheckField
          label={later.sources.keepRaw}
          hint={later.sources.keepRawHint}
          {...bind.check('keepRaw')}
        />
      </div>
    </Card>
  )
}

const HOSTS = Object.entries(later.sources.hosts).map(([value, label]) => ({ value, label }))

/** What is needed to send commands. Secrets are only written. */
const Credentials = ({ isNew, ...props }: PartProps) => {
  const bind = bindFields({ ...props, under: '/settings' })
  const shown = settingsOf(props.draft)
  if (!shown.includes('apiKey') && !shown.includes('password')) return null
  const secretHint = isNew ? later.sources.secretHint : later.sources.secretKept
  return (
    <Card title={later.sources.settings}>
      <div class="stack">
        <p class="hint">{later.sources.settingsHint}</p>
        {shown.includes('host') && (
          <SelectField label={later.sources.host} {...bind.choice('host')} choices={HOSTS} />
        )}
        {shown.includes('sender') && (
          <TextField
            label={later.sources.sender}
            hint={later.sources.senderHint}
            {...bind.text('sender')}
            isOptional
          />
        )}
        {shown.includes('apiKey') && (
          <SecretField
            label={later.sources.apiKey}
            hint={secretHint}
            {...bind.text('apiKey')}
            isOptional
          />
        )}
        {shown.includes('userName') && (
          <TextField
            label={later.sources.userName}
            {...bind.text('userName')}
            autocomplete="off"
            isOptional
          />
        )}
        {shown.includes('password') && (
          <SecretField
            label={later.sources.password}
            hint={secretHint}
            {...bind.text('password')}
            autocomplete="new-password"
            isOptional
          />
        )}
      </div>
    </Card>
  )
}

const Security = (props: PartProps) => {
  const bind = bindFields({ ...props, under: '/settings' })
  const shown = settingsOf(props.draft)
  const hasKey = shown.includes('encryptionKey')
  if (!hasKey && !shown.includes('requireJwt')) return null
  return (
    <Card title={later.sources.security}>
      {shown.includes('requireJwt') && (
        <CheckField
          label={later.sources.requireJwt}
          hint={later.sources.requireJwtHint}
          {...bind.check('requireJwt')}
        />
      )}
      {hasKey && (
        <div class="stack">
          {!props.draft.removesKey && (
            <SecretField
              label={later.sources.encryptionKey}
              hint={`${later.sources.encryptionKeyHint} ${props.isNew ? later.sources.secretHint : later.sources.secretKept}`}
              {...bind.text('encryptionKey')}
              isOptional
            />
          )}
          {!props.isNew && (
            <CheckField
              label={later.sources.removeKey}
              hint={later.sources.removeKeyHint}
              {...bind.check('removesKey')}
            />
          )}
        </div>
      )}
    </Card>
  )
}

interface SourceFormProps {
  source: Source | null
  onSaved: (source: Source, url: string | null) => void
}

export const SourceForm = ({ source, onSaved }: SourceFormProps) => {
  const [initial] = useState(() => draftOf(source))
  const { draft, change } = useDraft(initial)
  const save = useAction(async () => {
    if (source) {
      const params = { sourceId: source.id }
      const body = patchOf(initial, draft)
      const reply = await call('PATCH /api/sources/{sourceId}', { params, body })
      setLeaveGuard(null)
      toast(text.common.saved)
      onSaved(reply.source, null)
    } else {
      const reply = await call('POST /api/sources', { body: bodyOf(draft) })
      setLeaveGuard(null)
      onSaved(reply.source, reply.url)
    }
  })
  const { error } = save
  const part = { draft, change, error, isNew: source === null }
  return (
    <Form
      submitLabel={source ? text.common.save : later.sources.create}
      cancelHref={source ? `/sources/${source.id}` : '/sources'}
      action={save}
    >
      <div class="columns">
        <General {...part} />
        <div class="stack">
          <Card title={later.sources.inPortal(later.providers[draft.provider].name)}>
            <PortalSteps provider={draft.provider} />
          </Card>
          <Security {...part} />
          <Credentials {...part} />
        </div>
      </div>
    </Form>
  )
}
