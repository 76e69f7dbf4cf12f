import { useState } from 'preact/hooks'
import { changesOf } from '../../api/changes.ts'
import { callForResponse } from '../../api/client.ts'
import {
  type AnyAccount,
  type EmergencyContact,
  type EmergencySettings,
  emergencySettings,
} from '../../api/emergency.ts'
import { isAdmin } from '../../api/people.ts'
import type { ApiError } from '../../api/problem.ts'
import { useAction } from '../../api/resource.ts'
import { text } from '../../text/text.ts'
import { Button, IconButton } from '../../ui/Button.tsx'
import { CheckField, TextField } from '../../ui/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { Empty, Failed, Refusal, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useLeaveGuard } from '../../ui/useLeaveGuard.ts'
import { SettingsFrame, useAccount } from './SettingsFrame.tsx'

const MAX_CONTACTS = 20
const DEFAULT_ESCALATION = { afterMinutes: 15, rounds: 2 }

interface PartProps {
  body: EmergencySettings
  change: (changes: Partial<EmergencySettings>) => void
  error: ApiError | null
}

const Contacts = ({ body, change, error }: PartProps) => {
  const contacts = body.emergencyContacts
  const set = (at: number, changes: Partial<EmergencyContact>) =>
    change({
      emergencyContacts: contacts.map((one, index) =>
        index === at ? { ...one, ...changes } : one,
      ),
    })
  return (
    <Card title={text.emergencies.contacts}>
      <div class="stack">
        <p class="hint">{text.emergencies.contactsHint}</p>
        {contacts.map((contact, at) => (
          <fieldset key={at} class="contact">
            <legend>{text.emergencies.contact(at + 1)}</legend>
            <TextField
              label={text.emergencies.name}
              value={contact.name}
              onInput={(name) => set(at, { name })}
              pointer={`/emergencyContacts/${at}/name`}
              error={error}
            />
            <TextField
              label={text.emergencies.email}
              type="email"
              value={contact.email ?? ''}
              onInput={(email) => set(at, { email: email || null })}
              pointer={`/emergencyContacts/${at}/email`}
              error={error}
              isOptional
            />
            <TextField
              label={text.emergencies.phone}
              type="tel"
              value={contact.phone ?? ''}
              onInput={(phone) => set(at, { phone: phone || null })}
              pointer={`/emergencyContacts/${at}/phone`}
              error={error}
              isOptional
            />
            {error?.errorAt(`/emergencyContacts/${at}`) && (
              <p class="field-error">
                {text.emergencies.contact(at + 1)} {error.errorAt(`/emergencyContacts/${at}`)}
              </p>
            )}
            <IconButton
              icon="trash"
              label={text.emergencies.remove(contact.name || String(at + 1))}
              onClick={() =>
                change({ emergencyContacts: contacts.filter((_, index) => index !== at) })
              }
            />
          </fieldset>
        ))}
        <div>
          <Button
            icon="plus"
            disabled={contacts.length >= MAX_CONTACTS}
            onClick={() =>
              change({
                emergencyContacts: [...contacts, { name: '', email: null, phone: null }],
              })
            }
          >
            {text.emergencies.addContact}
          </Button>
        </div>
      </div>
    </Card>
  )
}

const Escalation = ({ body, change, error }: PartProps) => {
  const { escalation, dailyNoticeLimit: limit } = body
  return (
    <Card title={text.emergencies.escalation}>
      <div class="stack">
        <CheckField
          label={text.emergencies.escalate}
          hint={text.emergencies.escalateHint}
          isChecked={escalation !== null}
          onChange={(isOn) => change({ escalation: isOn ? DEFAULT_ESCALATION : null })}
        />
        {escalation && (
          <div class="fields">
            <TextField
              label={text.emergencies.afterMinutes}
              type="number"
              min={1}
              max={1440}
              value={String(escalation.afterMinutes)}
              onInput={(value) =>
                change({ escalation: { ...escalation, afterMinutes: Number(value) } })
              }
              pointer="/escalation/afterMinutes"
              error={error}
            />
            <TextField
              label={text.emergencies.rounds}
              type="number"
              min={1}
              max={3}
              value={String(escalation.rounds)}
              onInput={(value) => change({ escalation: { ...escalation, rounds: Number(value) } })}
              pointer="/escalation/rounds"
              error={error}
            />
          </div>
        )}
        <TextField
          label={text.emergencies.names}
          hint={text.emergencies.namesHint}
          value={body.emergencyAlerts.join(', ')}
          onInput={(names) => change({ emergencyAlerts: names.split(/,\s*/) })}
          pointer="/emergencyAlerts"
          error={error}
        />
        <div class="fields">
          <TextField
            label={text.emergencies.noticeEmails}
            hint={text.emergencies.noticeHint}
            type="number"
            min={0}
            value={String(limit.email)}
            onInput={(value) => change({ dailyNoticeLimit: { ...limit, email: Number(value) } })}
            pointer="/dailyNoticeLimit/email"
            error={error}
          />
          <TextField
            label={text.emergencies.noticeSms}
            type="number"
            min={0}
            value={String(limit.sms)}
            onInput={(value) => change({ dailyNoticeLimit: { ...limit, sms: Number(value) } })}
            pointer="/dailyNoticeLimit/sms"
            error={error}
          />
        </div>
      </div>
    </Card>
  )
}

/** What is sent: without empty members, and without the empty name that a trailing comma leaves. */
const tidy = (body: EmergencySettings): EmergencySettings => ({
  ...body,
  emergencyContacts: body.emergencyContacts.map(({ name, email, phone }) => ({
    name,
    ...(email && { email }),
    ...(phone && { phone }),
  })),
  emergencyAlerts: body.emergencyAlerts.map((name) => name.trim()).filter((name) => name !== ''),
})

interface FormProps {
  settings: EmergencySettings
  onSaved: (account: AnyAccount) => void
}

const EmergencyForm = ({ settings, onSaved }: FormProps) => {
  const [body, setBody] = useState(settings)
  const changes = changesOf(tidy(settings), tidy(body))
  const isDirty = Object.keys(changes).length > 0
  useLeaveGuard(isDirty)
  const save = useAction(async () => {
    const response = await callForResponse('PATCH /api/account', { body: changes })
    onSaved(((await response.json()) as { account: AnyAccount }).account)
    toast(text.common.saved)
  })
  const part = {
    body,
    change: (given: Partial<EmergencySettings>) => setBody((old) => ({ ...old, ...given })),
    error: save.error,
  }
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!save.isPending && isDirty) void save.run()
      }}
    >
      <div class="columns">
        <Contacts {...part} />
        <Escalation {...part} />
      </div>
      {save.error && <Refusal error={save.error} />}
      {isAdmin() && (
        <div class="form-actions">
          <Button type="submit" kind="primary" disabled={!isDirty} isPending={save.isPending}>
            {text.common.save}
          </Button>
        </div>
      )}
    </form>
  )
}

export default () => {
  const { data, error, reload, set } = useAccount()
  const settings = data && emergencySettings(data)
  return (
    <SettingsFrame title={text.settings.title} account={data} lead={text.emergencies.lead}>
      {settings ? (
        <EmergencyForm
          key={data.lastModified}
          settings={settings}
          onSaved={(account) => set(() => account)}
        />
      ) : data ? (
        <Empty icon="warning" title={text.emergencies.missing} />
      ) : error ? (
        <Failed error={error} onRetry={reload} />
      ) : (
        <Skeleton rows={6} />
      )}
    </SettingsFrame>
  )
}
