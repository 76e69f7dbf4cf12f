import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { readGroups } from '../../api/people.ts'
import { useResource } from '../../api/resource.ts'
import type { User } from '../../api/types.ts'
import { viewerZone } from '../../format/time.ts'
import { text } from '../../text/text.ts'
import { DevicePicker } from '../../ui/form/DevicePicker.tsx'
import { bindFields } from '../../ui/form/draft.ts'
import {
  CheckGroup,
  SeveralField,
  type Tag,
  TagsField,
  tagsOf,
} from '../../ui/form/fieldGroups.tsx'
import { CheckField, SelectField, TextField } from '../../ui/form/fields.tsx'
import { CountryField, TimeZoneField } from '../../ui/form/ListField.tsx'
import { PhoneField } from '../../ui/form/PhoneField.tsx'
import { Card } from '../../ui/Page.tsx'
import { PRIVILEGES } from './UserState.tsx'

/* The cards of the form of a user. */

/** What is typed into the form of a user. */
export type UserDraft = Pick<
  User,
  | 'name'
  | 'email'
  | 'country'
  | 'timeZone'
  | 'phone'
  | 'description'
  | 'message'
  | 'deviceId'
  | 'notify'
  | 'privileges'
  | 'group'
  | 'adminDevices'
  | 'from'
  | 'expires'
> & { tags: readonly Tag[] }

const MAX_ADMIN_DEVICES = 1_000_000
const NOTIFY = { email: true, sms: false, push: true, voice: false }

export const draftOf = (user: User | null): UserDraft => ({
  name: user?.name ?? '',
  email: user?.email ?? '',
  country: user?.country ?? '',
  timeZone: user?.timeZone ?? viewerZone,
  phone: user?.phone ?? null,
  description: user?.description ?? '',
  message: user?.message ?? '',
  deviceId: user?.deviceId ?? null,
  tags: tagsOf(user?.tags ?? {}),
  privileges: user?.privileges ?? ['read'],
  // Sent by id: a name may change while the form is open.
  group: user?.groupId ?? null,
  adminDevices: user?.adminDevices ?? null,
  from: user?.from ?? null,
  expires: user?.expires ?? null,
  notify: user?.notify ?? NOTIFY,
})

/** A tag without a name is not sent. */
export const tidy = (draft: UserDraft): UserDraft => ({
  ...draft,
  phone: draft.phone?.trim() || null,
  tags: draft.tags.filter(({ name }) => name.trim() !== ''),
})

interface PartProps {
  draft: UserDraft
  change: (changes: Partial<UserDraft>) => void
  error: PerigeeError | null
}

export const Person = (props: PartProps) => {
  const { draft, change, error } = props
  const bind = bindFields(props)
  const { notify } = draft
  const bindNotify = bindFields({
    draft: notify,
    change: (changes) => change({ notify: { ...notify, ...changes } }),
    error,
  })
  return (
    <Card title={text.users.person}>
      <div class="fields">
        <TextField label={text.users.name} {...bind.text('name')} maxLength={200} required />
        <TextField
          label={text.users.email}
          type="email"
          {...bind.text('email')}
          autocomplete="off"
          required
        />
        <CountryField label={text.users.country} {...bind.choice('country')} />
        <TimeZoneField label={text.users.timeZone} {...bind.choice('timeZone')} />
        <PhoneField
          label={text.users.phone}
          hint={text.users.phoneHint}
          {...bind.textOrNull('phone')}
        />
        <TextField
          label={text.users.description}
          {...bind.text('description')}
          maxLength={2000}
          isOptional
        />
      </div>
      <CheckGroup label={text.users.notify} pointer="/notify" error={error}>
        <CheckField label={text.messages.channels.Email} {...bindNotify.check('email')} />
        <CheckField
          label={text.messages.channels.SMS}
          hint={draft.phone === null ? text.users.smsNeedsPhone : undefined}
          {...bindNotify.check('sms')}
        />
        <CheckField
          label={text.messages.channels.Push}
          hint={text.users.pushNeedsBrowser}
          {...bindNotify.check('push')}
        />
        <CheckField
          label={text.messages.channels.Voice}
          hint={draft.phone === null ? text.users.smsNeedsPhone : undefined}
          {...bindNotify.check('voice')}
        />
      </CheckGroup>
    </Card>
  )
}

export const Access = (props: PartProps) => {
  const bind = bindFields(props)
  const groups = useResource(readGroups, [])
  return (
    <Card title={text.users.permissionsAndAccess}>
      <SeveralField
        label={text.users.permissions}
        options={PRIVILEGES.map((value) => ({
          value,
          label: text.users.privilegeNames[value],
          hint: text.users.privilegeHints[value],
        }))}
        {...bind.several('privileges')}
      />
      <div class="fields">
        <SelectField
          label={text.users.access}
          hint={groups.error ? groups.error.message : text.users.accessHint}
          choices={[
            { value: '', label: text.users.wholeAccount },
            ...(groups.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          {...bind.choiceOrNull('group')}
        />
        <TextField
          label={text.users.from}
          hint={text.users.periodHint}
          {...bind.instant('from')}
          isOptional
        />
        <TextField label={text.users.until} {...bind.instant('expires')} isOptional />
        <TextField
          label={text.users.adminDevices}
          hint={text.users.adminDevicesHint}
          min={0}
          max={MAX_ADMIN_DEVICES}
          {...bind.numberOrNull('adminDevices')}
          isOptional
        />
      </div>
    </Card>
  )
}

export const Own = (props: PartProps) => {
  const { draft, change, error } = props
  const bind = bindFields(props)
  return (
    <Card title={text.users.own}>
      <div class="columns">
        <DevicePicker
          label={text.users.device}
          hint={text.users.deviceHint}
          values={draft.deviceId === null ? [] : [draft.deviceId]}
          onChange={([deviceId = null]) => change({ deviceId })}
          maxCount={1}
          pointer="/deviceId"
          error={error}
        />
        <div class="stack">
          <TextField
            label={text.users.message}
            hint={text.users.messageHint}
            {...bind.text('message')}
            maxLength={2000}
            isOptional
          />
          <TagsField tags={draft.tags} onChange={(tags) => change({ tags })} error={error} />
        </div>
      </div>
    </Card>
  )
}
