import { readGroups } from '../../api/people.ts'
import type { ApiError } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import type { User, UserBody } from '../../api/types.ts'
import { toLocalInput, viewerZone } from '../../format/time.ts'
import { text } from '../../text/text.ts'
import { CheckField, SelectField, TextField } from '../../ui/fields.tsx'
import { CountryField, TimeZoneField } from '../../ui/ListField.tsx'
import { Card } from '../../ui/Page.tsx'
import { PRIVILEGES } from './UserState.tsx'

/* The cards of the form of a user. */

export type Body = Required<
  Pick<
    UserBody,
    | 'name'
    | 'email'
    | 'country'
    | 'timeZone'
    | 'phone'
    | 'description'
    | 'privileges'
    | 'group'
    | 'from'
    | 'expires'
  >
> & { notify: { email: boolean; sms: boolean }; privileges: User['privileges'] }

const NOTIFY = { email: true, sms: false }

export const bodyOf = (user: User | null): Body => ({
  name: user?.name ?? '',
  email: user?.email ?? '',
  country: user?.country ?? '',
  timeZone: user?.timeZone ?? viewerZone,
  phone: user?.phone ?? null,
  description: user?.description ?? '',
  privileges: user?.privileges ?? ['read'],
  // Sent by id: a name may change while the form is open.
  group: user?.groupId ?? null,
  from: user?.from ?? null,
  expires: user?.expires ?? null,
  notify: user?.notify ?? NOTIFY,
})

interface PartProps {
  body: Body
  change: (changes: Partial<Body>) => void
  error: ApiError | null
}

export const Person = ({ body, change, error }: PartProps) => (
  <Card title={text.users.person}>
    <div class="fields">
      <TextField
        label={text.users.name}
        value={body.name}
        onInput={(name) => change({ name })}
        pointer="/name"
        error={error}
        maxLength={200}
        required
      />
      <TextField
        label={text.users.email}
        type="email"
        value={body.email}
        onInput={(email) => change({ email })}
        pointer="/email"
        error={error}
        autocomplete="off"
        required
      />
      <CountryField
        label={text.users.country}
        value={body.country}
        onChange={(country) => change({ country })}
        pointer="/country"
        error={error}
      />
      <TimeZoneField
        label={text.users.timeZone}
        value={body.timeZone}
        onChange={(timeZone) => change({ timeZone })}
        pointer="/timeZone"
        error={error}
      />
      <TextField
        label={text.users.phone}
        hint={text.users.phoneHint}
        type="tel"
        value={body.phone ?? ''}
        onInput={(phone) => change({ phone: phone.trim() || null })}
        pointer="/phone"
        error={error}
        placeholder="+351912345678"
        isOptional
      />
      <TextField
        label={text.users.description}
        value={body.description ?? ''}
        onInput={(description) => change({ description })}
        pointer="/description"
        error={error}
        maxLength={2000}
        isOptional
      />
    </div>
    <fieldset class="checks">
      <legend>{text.users.notify}</legend>
      <CheckField
        label={text.messages.channels.Email}
        isChecked={body.notify.email}
        onChange={(email) => change({ notify: { ...body.notify, email } })}
      />
      <CheckField
        label={text.messages.channels.SMS}
        hint={body.phone === null ? text.users.smsNeedsPhone : undefined}
        isChecked={body.notify.sms}
        onChange={(sms) => change({ notify: { ...body.notify, sms } })}
      />
    </fieldset>
  </Card>
)

const instantOf = (local: string): string | null => (local ? new Date(local).toISOString() : null)

export const Access = ({ body, change, error }: PartProps) => {
  const groups = useResource(readGroups, [])
  return (
    <Card title={text.users.access}>
      <fieldset class="checks">
        <legend>{text.users.may}</legend>
        {PRIVILEGES.map((one) => (
          <CheckField
            key={one}
            label={text.users.privilegeNames[one]}
            hint={text.users.privilegeHints[one]}
            isChecked={body.privileges.includes(one)}
            onChange={(isChecked) =>
              change({
                privileges: PRIVILEGES.filter((other) =>
                  other === one ? isChecked : body.privileges.includes(other),
                ),
              })
            }
          />
        ))}
        {error?.errorAt('/privileges') && (
          <p class="field-error">
            {text.users.may} {error.errorAt('/privileges')}
          </p>
        )}
      </fieldset>
      <div class="fields">
        <SelectField
          label={text.users.sees}
          hint={groups.error ? groups.error.message : text.users.seesHint}
          value={body.group ?? ''}
          choices={[
            { value: '', label: text.users.wholeAccount },
            ...(groups.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(group) => change({ group: group || null })}
          pointer="/group"
          error={error}
        />
        <TextField
          label={text.users.from}
          hint={text.users.periodHint}
          type="datetime-local"
          value={body.from ? toLocalInput(Date.parse(body.from)) : ''}
          onInput={(local) => change({ from: instantOf(local) })}
          pointer="/from"
          error={error}
          isOptional
        />
        <TextField
          label={text.users.until}
          type="datetime-local"
          value={body.expires ? toLocalInput(Date.parse(body.expires)) : ''}
          onInput={(local) => change({ expires: instantOf(local) })}
          pointer="/expires"
          error={error}
          isOptional
        />
      </div>
    </Card>
  )
}
