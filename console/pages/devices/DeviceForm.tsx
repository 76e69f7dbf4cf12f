import { useState } from 'preact/hooks'
import type { ApiError } from '../../api/problem.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Button, IconButton, LinkButton } from '../../ui/Button.tsx'
import { CheckField, TextArea, TextField } from '../../ui/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { useLeaveGuard } from '../../ui/useLeaveGuard.ts'
import './devices.css'
import type { DeviceDraft } from './deviceForm.ts'
import { LicenseRefusal } from './LicenseRefusal.tsx'

interface DeviceFormProps {
  initial: DeviceDraft
  submitLabel: string
  cancelHref: string
  isPending: boolean
  error: ApiError | null
  onSubmit: (draft: DeviceDraft) => void
}

type Change = (changes: Partial<DeviceDraft>) => void

interface PartProps {
  draft: DeviceDraft
  change: Change
  error: ApiError | null
}

const Tags = ({ draft, change }: { draft: DeviceDraft; change: Change }) => {
  const set = (at: number, changes: { name?: string; value?: string }) =>
    change({ tags: draft.tags.map((tag, index) => (index === at ? { ...tag, ...changes } : tag)) })
  return (
    <fieldset class="stack">
      <legend class="field-legend">{text.devices.tags}</legend>
      {draft.tags.map((tag, at) => (
        <div key={at} class="tag-row">
          <input
            class="input"
            aria-label={text.devices.tagName}
            placeholder={text.devices.tagName}
            value={tag.name}
            maxLength={64}
            onInput={({ currentTarget }) => set(at, { name: currentTarget.value })}
          />
          <input
            class="input"
            aria-label={text.devices.tagValue}
            placeholder={text.devices.tagValue}
            value={tag.value}
            onInput={({ currentTarget }) => set(at, { value: currentTarget.value })}
          />
          <IconButton
            icon="trash"
            label={text.devices.removeTag(tag.name)}
            onClick={() => change({ tags: draft.tags.filter((_, index) => index !== at) })}
          />
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon="plus"
          onClick={() => change({ tags: [...draft.tags, { name: '', value: '' }] })}
        >
          {text.devices.addTag}
        </Button>
      </div>
    </fieldset>
  )
}

const General = ({ draft, change, error }: PartProps) => (
  <Card title={text.devices.general}>
    <div class="stack">
      <TextField
        label={text.devices.name}
        value={draft.name}
        onInput={(name) => change({ name })}
        pointer="/name"
        error={error}
        maxLength={200}
        required
        autofocus
      />
      <TextField
        label={text.devices.identifier}
        hint={text.devices.identifierHint}
        value={draft.identifier}
        onInput={(identifier) => change({ identifier })}
        pointer="/identifier"
        error={error}
        isOptional
        isCode
      />
      <TextField
        label={text.devices.model}
        value={draft.model}
        onInput={(model) => change({ model })}
        pointer="/model"
        error={error}
        isOptional
      />
      <TextField
        label={text.devices.min}
        hint={text.devices.minHint}
        type="tel"
        value={draft.min}
        onInput={(min) => change({ min })}
        pointer="/min"
        error={error}
        isOptional
      />
      <TextArea
        label={text.devices.description}
        value={draft.description}
        onInput={(description) => change({ description })}
        pointer="/description"
        error={error}
        isOptional
      />
      <Tags draft={draft} change={change} />
    </div>
  </Card>
)

const Reserve = ({ draft: { reserve }, change, error }: PartProps) => {
  if (!reserve) return null
  return (
    <>
      <div class="pair">
        <TextField
          label={text.devices.reserveEmails}
          type="number"
          min={0}
          value={reserve.email}
          onInput={(email) => change({ reserve: { ...reserve, email } })}
          pointer="/limits/emergencyReserve/email"
          error={error}
        />
        <TextField
          label={text.devices.reserveSms}
          type="number"
          min={0}
          value={reserve.sms}
          onInput={(sms) => change({ reserve: { ...reserve, sms } })}
          pointer="/limits/emergencyReserve/sms"
          error={error}
        />
      </div>
      <p class="hint">{text.devices.reserveHint}</p>
    </>
  )
}

const Limits = ({ draft, change, error }: PartProps) => (
  <Card title={text.devices.limits}>
    <div class="stack">
      <CheckField
        label={text.devices.expiresLabel}
        hint={text.devices.expiresHint(session.me.value?.account.timeZone ?? '')}
        isChecked={draft.expires}
        onChange={(expires) => change({ expires })}
      />
      {draft.expires && (
        <TextField
          label={text.devices.expirationDate}
          type="date"
          value={draft.expirationDate}
          onInput={(expirationDate) => change({ expirationDate })}
          pointer="/limits/expirationDate"
          error={error}
        />
      )}
      <div class="pair">
        <TextField
          label={text.devices.dailyEmailLimit}
          type="number"
          min={0}
          max={100_000}
          value={draft.dailyEmailLimit}
          onInput={(dailyEmailLimit) => change({ dailyEmailLimit })}
          pointer="/limits/dailyEmailLimit"
          error={error}
        />
        <TextField
          label={text.devices.dailySmsLimit}
          type="number"
          min={0}
          max={100_000}
          value={draft.dailySmsLimit}
          onInput={(dailySmsLimit) => change({ dailySmsLimit })}
          pointer="/limits/dailySmsLimit"
          error={error}
        />
      </div>
      <p class="hint">{text.devices.limitHint}</p>
      <Reserve draft={draft} change={change} error={error} />
    </div>
  </Card>
)

export const DeviceForm = ({
  initial,
  submitLabel,
  cancelHref,
  isPending,
  error,
  onSubmit,
}: DeviceFormProps) => {
  const [draft, setDraft] = useState(initial)
  const change: Change = (changes) => setDraft((before) => ({ ...before, ...changes }))
  useLeaveGuard(draft !== initial && !isPending)
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPending) onSubmit(draft)
      }}
    >
      <div class="columns">
        <General draft={draft} change={change} error={error} />
        <Limits draft={draft} change={change} error={error} />
      </div>
      {error && <LicenseRefusal error={error} />}
      <div class="actions">
        <Button type="submit" kind="primary" isPending={isPending}>
          {submitLabel}
        </Button>
        <LinkButton href={cancelHref}>{text.common.cancel}</LinkButton>
      </div>
    </form>
  )
}
