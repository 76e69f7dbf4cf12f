import { useState } from 'preact/hooks'
import { changesOf } from '../../api/changes.ts'
import { call, callForResponse } from '../../api/client.ts'
import { readGroups } from '../../api/people.ts'
import type { ApiError } from '../../api/problem.ts'
import { useAction, useResource } from '../../api/resource.ts'
import type { User, UserBody } from '../../api/types.ts'
import { toLocalInput, viewerZone } from '../../format/time.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { CheckField, SelectField, TextField } from '../../ui/fields.tsx'
import { CountryField, TimeZoneField } from '../../ui/ListField.tsx'
import { Card } from '../../ui/Page.tsx'
import { Refusal } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useLeaveGuard } from '../../ui/useLeaveGuard.ts'
import { PRIVILEGES } from './UserState.tsx'

type Body = Required<
  Pick<
    UserBody,
    | 'name'
    | 'email'
    | 'country'
    | 'timeZone'
    | 'phone'
    | 'description'
    | 'privileges'
    | 'groupId'
    | 'from'
    | 'expires'
  >
> & { notify: { email: boolean; sms: boolean }; privileges: User['privileges'] }

const NOTIFY = { email: true, sms: false }

const bodyOf = (user: User | null): Body => ({
  name: user?.name ?? '',
  email: user?.email ?? '',
  country: user?.country ?? '',
  timeZone: user?.timeZone ?? viewerZone,
  phone: user?.phone ?? null,
  description: user?.description ?? '',
  privileges: user?.privileges ?? ['read'],
  groupId: user?.groupId ?? null,
  from: user?.from ?? null,
  expires: user?.expires ?? null,
  notify: user?.notify ?? NOTIFY,
})

export const sendInvitation = async (userId: string): Promise<void> => {
  await callForResponse('POST /api/users/{userId}/invite', { params: { userId } })
}

interface PartProps {
  body: Body
  change: (changes: Partial<Body>) => void
  error: ApiError | null
}

const Person = ({ body, change, error }: PartProps) => (
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

const Access = ({ body, change, error }: PartProps) => {
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
          value={body.groupId ?? ''}
          choices={[
            { value: '', label: text.users.wholeAccount },
            ...(groups.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(groupId) => change({ groupId: groupId || null })}
          pointer="/groupId"
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

export const UserForm = ({ user }: { user: User | null }) => {
  const [before] = useState(() => bodyOf(user))
  const [body, setBody] = useState(before)
  const [isInvited, setIsInvited] = useState(true)
  const [isDirty, setIsDirty] = useState(false)
  useLeaveGuard(isDirty)
  const change = (changes: Partial<Body>) => {
    setIsDirty(true)
    setBody((given) => ({ ...given, ...changes }))
  }
  const save = useAction(async () => {
    if (user) {
      const params = { userId: user.id }
      await call('PATCH /api/users/{userId}', { params, body: changesOf(before, body) })
      toast(text.common.saved)
    } else {
      const { id } = await call('POST /api/users', { body })
      setLeaveGuard(null)
      // The user exists now; a failed invitation can be repeated on the user's page.
      const isSent =
        isInvited &&
        (await sendInvitation(id).then(
          () => true,
          () => false,
        ))
      if (isSent) toast(text.users.invited(body.email))
      else if (isInvited) toast(text.users.inviteFailed, 'failed')
      else toast(text.common.saved)
    }
    setLeaveGuard(null)
    navigate('/users')
  })
  const part = { body, change, error: save.error }
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!save.isPending) void save.run()
      }}
    >
      <div class="columns">
        <Person {...part} />
        <Access {...part} />
      </div>
      {!user && (
        <CheckField
          label={text.users.inviteNow}
          hint={text.users.inviteHint}
          isChecked={isInvited}
          onChange={setIsInvited}
        />
      )}
      {save.error && <Refusal error={save.error} />}
      <div class="form-actions">
        <Button type="submit" kind="primary" isPending={save.isPending}>
          {user ? text.common.save : text.users.create}
        </Button>
        <LinkButton href="/users">{text.common.cancel}</LinkButton>
      </div>
    </form>
  )
}
