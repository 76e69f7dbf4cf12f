import { useState } from 'preact/hooks'
import { call, callForResponse } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import { saveChanges } from '../../api/saveChanges.ts'
import type { User } from '../../api/types.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { tagRecord } from '../../ui/form/fieldGroups.tsx'
import { CheckField } from '../../ui/form/fields.tsx'
import { toast } from '../../ui/toast.tsx'
import { Access, draftOf, Own, Person, tidy, type UserDraft } from './userParts.tsx'

export const sendInvitation = async (userId: string): Promise<void> => {
  await callForResponse('POST /api/users/{userId}/invite', { params: { userId } })
}

/** What is sent. */
const bodyOf = (draft: UserDraft) => ({ ...tidy(draft), tags: tagRecord(draft.tags) })

export const UserForm = ({ user }: { user: User | null }) => {
  const { draft, change, stored } = useDraft(() => draftOf(user), tidy)
  const [isInvited, setIsInvited] = useState(true)
  const save = useAction(async () => {
    let next = '/users'
    if (user) {
      await saveChanges('/api/users/{userId}', {
        params: { userId: user.id },
        before: bodyOf(stored),
        after: bodyOf(draft),
        read: (current) => bodyOf(draftOf(current)),
      })
      toast(text.common.saved)
    } else {
      const { id } = await call('POST /api/users', {
        body: bodyOf(draft),
      })
      setLeaveGuard(null)
      // The user exists now; a failed invitation can be repeated on the user's page.
      const isSent =
        isInvited &&
        (await sendInvitation(id).then(
          () => true,
          () => false,
        ))
      if (isSent) toast(text.users.invited(draft.email))
      else if (isInvited) {
        toast(text.users.inviteFailed, 'failed')
        next = `/users/${id}`
      } else toast(text.common.saved)
    }
    setLeaveGuard(null)
    navigate(next)
  })
  const part = { draft, change, error: save.error }
  return (
    <Form
      submitLabel={user ? text.common.save : text.users.create}
      cancelHref="/users"
      action={save}
    >
      <div class="columns">
        <Person {...part} />
        <Access {...part} />
      </div>
      <Own {...part} />
      {!user && (
        <CheckField
          label={text.users.inviteNow}
          hint={text.users.inviteHint}
          isChecked={isInvited}
          onChange={setIsInvited}
        />
      )}
    </Form>
  )
}
