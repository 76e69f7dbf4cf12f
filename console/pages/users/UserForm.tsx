import { useState } from 'preact/hooks'
import { changesOf } from '../../api/changes.ts'
import { call, callForResponse } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { User } from '../../api/types.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { CheckField } from '../../ui/fields.tsx'
import { Refusal } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useLeaveGuard } from '../../ui/useLeaveGuard.ts'
import { Access, type Body, bodyOf, Person } from './userParts.tsx'

export const sendInvitation = async (userId: string): Promise<void> => {
  await callForResponse('POST /api/users/{userId}/invite', { params: { userId } })
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
