import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { changesOf } from '../../api/changes.ts'
import { isAdmin } from '../../api/people.ts'
import { useAction } from '../../api/resource.ts'
import { saveChanges } from '../../api/saveChanges.ts'
import type { Account } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Button, IconButton } from '../../ui/Button.tsx'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { FieldError } from '../../ui/form/fieldGroups.tsx'
import { CheckField, TextField } from '../../ui/form/fields.tsx'
import { PhoneField } from '../../ui/form/PhoneField.tsx'
import { Card } from '../../ui/Page.tsx'
import { toast } from '../../ui/toast.tsx'
import { LastDrill } from './LastDrill.tsx'
import { AccountSettings } from './SettingsFrame.tsx'

const MAX_CONTACTS = 20
/** What the service does by itself for an account with a contact. */
const DEFAULT_ESCALATION = {
  afterMinutes: 10,
  rounds: 1,
  againAfterMinutes: null,
  voice: false,
}

type Contact = Account['emergencyContacts'][number]

/** What is typed: the names of emergencies are one text until they are sent. */
const draftOf = (account: Account) => ({
  emergencyContacts: account.emergencyContacts,
  escalation: account.escalation,
  emergencyAlerts: account.emergencyAlerts.join(', '),
  dailyNoticeLimit: account.dailyNoticeLimit,
})
type Settings = ReturnType<typeof draftOf>
type Sent = Omit<Settings, 'emergencyAlerts' | 'escalation'> & {
  emergencyAlerts: string[]
  escalation: Settings['escalation'] | undefined
}

/** What is sent of a contact: without empty members. */
const tidyContact = ({ name, email, phone }: Contact): Contact => ({
  name,
  ...(email && { email }),
  ...(phone && { phone }),
})

/** Spaces and trailing commas are no change. */
const namesOf = (typed: string): string[] =>
  typed
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

const tidy = (draft: Settings): Settings => ({
  ...draft,
  emergencyContacts: draft.emergencyContacts.map(tidyContact),
  emergencyAlerts: namesOf(draft.emergencyAlerts).join(', '),
})

/** What is sent. */
const bodyOf = (draft: Settings): Sent => ({
  ...tidy(draft),
  emergencyAlerts: namesOf(draft.emergencyAlerts),
})

interface PartProps {
  draft: Settings
  change: (changes: Partial<Settings>) => void
  error: PerigeeError | null
  disabled: boolean
}

interface ContactProps extends Pick<PartProps, 'error' | 'disabled'> {
  contact: Contact
  at: number
  change: (changes: Partial<Contact>) => void
  onRemove: () => void
}

const ContactFields = ({ contact, at, change, onRemove, ...rest }: ContactProps) => {
  const under = `/emergencyContacts/${at}`
  const bind = bindFields({ draft: contact, change, under, ...rest })
  return (
    <fieldset class="contact">
      <legend>{later.emergencies.contact(at + 1)}</legend>
      <TextField label={later.emergencies.name} {...bind.text('name')} />
      <TextField label={later.emergencies.email} type="email" {...bind.text('email')} isOptional />
      <PhoneField label={later.emergencies.phone} {...bind.text('phone')} />
      <FieldError label={later.emergencies.contact(at + 1)} pointer={under} error={rest.error} />
      {!rest.disabled && (
        <IconButton
          icon="trash"
          label={later.emergencies.remove(contact.name || String(at + 1))}
          onClick={onRemove}
        />
      )}
    </fieldset>
  )
}

const Contacts = ({ draft, change, error, disabled }: PartProps) => {
  const contacts = draft.emergencyContacts
  const set = (emergencyContacts: Contact[]) => change({ emergencyContacts })
  const addContact = () => {
    const emergencyContacts = [...contacts, { name: '' }]
    // With the first contact the service escalates by default: that is shown before it is saved.
    const escalation = draft.escalation ?? (contacts.length === 0 ? DEFAULT_ESCALATION : null)
    change({ emergencyContacts, escalation })
  }
  // Users who may only read do not see them.
  if (disabled && contacts.length === 0) return null
  return (
    <Card title={later.emergencies.contacts}>
      <div class="stack">
        <p class="hint">{later.emergencies.contactsHint}</p>
        {contacts.map((contact, at) => (
          <ContactFields
            key={at}
            contact={contact}
            at={at}
            change={(changes) =>
              set(contacts.map((one, index) => (index === at ? { ...one, ...changes } : one)))
            }
            onRemove={() => set(contacts.filter((_, index) => index !== at))}
            error={error}
            disabled={disabled}
          />
        ))}
        {!disabled && (
          <div>
            <Button icon="plus" disabled={contacts.length >= MAX_CONTACTS} onClick={addContact}>
              {later.emergencies.addContact}
            </Button>
          </div>
        )}
      </div>
    </Card>
  )
}

const Escalation = (props: PartProps) => {
  const { draft, change, error, disabled } = props
  const { escalation, dailyNoticeLimit } = draft
  const bind = bindFields(props)
  const bindRounds = bindFields({
    draft: escalation ?? DEFAULT_ESCALATION,
    change: (changes) =>
      change({ escalation: { ...(escalation ?? DEFAULT_ESCALATION), ...changes } }),
    under: '/escalation',
    error,
    disabled,
  })
  const bindLimit = bindFields({
    draft: dailyNoticeLimit,
    change: (changes) => change({ dailyNoticeLimit: { ...dailyNoticeLimit, ...changes } }),
    under: '/dailyNoticeLimit',
    error,
    disabled,
  })
  return (
    <Card title={later.emergencies.escalation}>
      <div class="stack">
        <CheckField
          label={later.emergencies.escalate}
          hint={later.emergencies.escalateHint}
          isChecked={escalation !== null}
          onChange={(isOn) => change({ escalation: isOn ? DEFAULT_ESCALATION : null })}
          disabled={disabled}
        />
        {escalation && (
          <div class="fields">
            <TextField
              label={later.emergencies.afterMinutes}
              min={1}
              max={1440}
              {...bindRounds.number('afterMinutes')}
            />
            <TextField
              label={later.emergencies.rounds}
              min={1}
              max={3}
              {...bindRounds.number('rounds')}
            />
            <TextField
              label={later.emergencies.againAfterMinutes}
              hint={later.emergencies.againHint}
              min={1}
              max={1440}
              {...bindRounds.numberOrNull('againAfterMinutes')}
              isOptional
            />
            <CheckField
              label={later.emergencies.voice}
              hint={later.emergencies.voiceHint}
              {...bindRounds.check('voice')}
            />
          </div>
        )}
        <p class="hint" role="status">
          {escalation === null
            ? later.emergencies.escalationOff(draft.emergencyContacts.length > 0)
            : Object.keys(changesOf(DEFAULT_ESCALATION, escalation)).length === 0 &&
              later.emergencies.escalationDefault}
        </p>
        <TextField
          label={later.emergencies.names}
          hint={later.emergencies.namesHint}
          {...bind.text('emergencyAlerts')}
        />
        <div class="fields">
          <TextField
            label={later.emergencies.noticeEmails}
            hint={later.emergencies.noticeHint}
            min={0}
            {...bindLimit.number('email')}
          />
          <TextField label={later.emergencies.noticeSms} min={0} {...bindLimit.number('sms')} />
        </div>
      </div>
    </Card>
  )
}

interface FormProps {
  account: Account
  onSaved: (account: Account) => void
}

const EmergencyForm = ({ account, onSaved }: FormProps) => {
  const { draft, change, stored, changes, isDirty } = useDraft(() => draftOf(account), tidy)
  const save = useAction(async () => {
    const isOfContactsOnly = changes.emergencyContacts && !('escalation' in changes)
    const reply = await saveChanges('/api/account', {
      // What was never set and what is off look the same; saved with contacts, it is as stored.
      before: { ...bodyOf(stored), ...(changes.emergencyContacts && { escalation: undefined }) },
      after: (current) => ({
        ...bodyOf(draft),
        ...(isOfContactsOnly && { escalation: current.escalation }),
      }),
      read: ({ account: current }) => bodyOf(draftOf(current)),
    })
    onSaved(reply.account)
    toast(text.common.saved)
  })
  const part = { draft, change, error: save.error, disabled: !isAdmin() }
  return (
    <Form submitLabel={text.common.save} action={save} canSubmit={isDirty} isReadOnly={!isAdmin()}>
      <div class="columns">
        <Contacts {...part} />
        <Escalation {...part} />
      </div>
    </Form>
  )
}

export default () => (
  <AccountSettings lead={later.emergencies.lead}>
    {(account, onSaved) => (
      <>
        <EmergencyForm account={account} onSaved={onSaved} />
        <LastDrill account={account} />
      </>
    )}
  </AccountSettings>
)
