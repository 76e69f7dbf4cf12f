import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { User } from '../../api/types.ts'
import type { PageProps } from '../../app/routes.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { WhoChanged } from '../../ui/audit/WhoChanged.tsx'
import { ConfirmButton, DeleteButton } from '../../ui/dialog/ConfirmButton.tsx'
import { TextField } from '../../ui/form/fields.tsx'
import { Page } from '../../ui/Page.tsx'
import { Unloaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { sendInvitation, UserForm } from './UserForm.tsx'
import { UserState } from './UserState.tsx'

const parent = { href: '/users', label: text.users.title }

const Invite = ({ user, onDone }: { user: User; onDone: () => void }) => (
  <ActionButton
    icon="message"
    onAct={async () => {
      await sendInvitation(user.id)
      toast(text.users.invited(user.email))
      onDone()
    }}
  >
    {user.invited ? text.users.inviteAgain : text.users.invite}
  </ActionButton>
)

const Disable = ({ user, onDone }: { user: User; onDone: () => void }) => {
  const [message, setMessage] = useState('')
  const set = async (disabled: boolean) => {
    await call('PATCH /api/users/{userId}', {
      params: { userId: user.id },
      body: { disabled, disabledMessage: disabled ? message : '' },
    })
    toast(disabled ? text.users.disabledToast(user.name) : text.users.enabledToast(user.name))
    onDone()
  }
  if (user.disabled)
    return (
      <ActionButton icon="check" onAct={() => set(false)}>
        {text.users.enable}
      </ActionButton>
    )
  return (
    <ConfirmButton
      icon="pause"
      label={text.users.disable}
      title={text.users.disableTitle(user.name)}
      question={text.users.disableQuestion}
      confirmLabel={text.users.disable}
      onConfirm={() => set(true)}
    >
      <TextField
        label={text.users.disabledMessage}
        hint={text.users.disabledMessageHint}
        value={message}
        onInput={setMessage}
        maxLength={2000}
        isOptional
      />
    </ConfirmButton>
  )
}

const Delete = ({ user }: { user: User }) => (
  <DeleteButton
    title={text.users.deleteTitle(user.name)}
    confirmLabel={text.users.deleteConfirm}
    question={text.users.deleteQuestion}
    name={user.name}
    onDelete={() => call('DELETE /api/users/{userId}', { params: { userId: user.id } })}
    deleted={text.users.deleted(user.name)}
    href="/users"
  />
)

export default ({ params: { userId = '' } }: PageProps) => {
  const isNew = userId === 'new'
  const { data, error, reload } = useResource<User | null>(
    async (signal) =>
      isNew ? null : call('GET /api/users/{userId}', { params: { userId }, signal }),
    [userId],
  )
  if (isNew)
    return (
      <Page title={text.users.add} parent={parent}>
        <UserForm user={null} />
      </Page>
    )
  if (!data)
    return (
      <Page title={text.users.user} parent={parent}>
        <Unloaded error={error} onRetry={reload} icon="user" />
      </Page>
    )
  return (
    <Page
      title={data.name}
      parent={parent}
      lead={<UserState user={data} />}
      actions={
        <>
          {!data.disabled && <Invite user={data} onDone={reload} />}
          <Disable user={data} onDone={reload} />
          <Delete user={data} />
        </>
      }
    >
      <UserForm key={data.id} user={data} />
      <WhoChanged key={`audit-${data.id}`} id={data.id} />
    </Page>
  )
}
