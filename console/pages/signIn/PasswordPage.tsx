import { useState } from 'preact/hooks'
import { sendOnce } from '../../api/connection.ts'
import { useAction } from '../../api/resource.ts'
import type { SetPasswordReply } from '../../api/types.ts'
import { remember } from '../../session/remembered.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { bindFields, useInput } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { SecretField } from '../../ui/form/fields.tsx'
import { Facts } from '../../ui/Page.tsx'
import { SignInFrame } from './SignInFrame.tsx'

const MIN_CHARS = 12

/** The link's secret part is in the fragment, which browsers send to no server. */
const readLink = (): string => location.hash.slice(1)

/** Sets the first password of an invited user, or a new one. */
export default () => {
  const [link] = useState(readLink)
  const { draft, change } = useInput({ password: '', repeated: '' })
  const { password, repeated } = draft
  const [isChecked, setIsChecked] = useState(false)
  const [done, setDone] = useState<SetPasswordReply | null>(null)
  const set = useAction(async () => {
    const body = { link, password }
    const { response } = await sendOnce('POST', '/api/Auth/Password', { body })
    const reply = (await response.json()) as SetPasswordReply
    history.replaceState(history.state, '', '/password')
    remember(reply.account, reply.email)
    setDone(reply)
  })
  const bind = bindFields({ draft, change, error: set.error })
  const isShort = [...password].length < MIN_CHARS
  const isDifferent = password !== repeated
  if (done)
    return (
      <SignInFrame title={later.password.doneTitle} lead={later.password.done}>
        <Facts
          facts={[
            [text.signIn.account, done.account],
            [text.signIn.email, done.email],
          ]}
        />
        <LinkButton kind="primary" href="/">
          {text.signIn.submit}
        </LinkButton>
      </SignInFrame>
    )
  if (!link)
    return (
      <SignInFrame title={later.password.noLinkTitle} lead={later.password.noLink}>
        <LinkButton href="/">{later.reset.back}</LinkButton>
      </SignInFrame>
    )
  return (
    <SignInFrame title={later.password.title} lead={later.password.lead}>
      <Form
        submitLabel={later.password.submit}
        action={set}
        onSubmit={() => {
          setIsChecked(true)
          if (!isShort && !isDifferent) void set.run()
        }}
      >
        <SecretField
          label={later.password.label}
          autocomplete="new-password"
          {...bind.text('password')}
          invalid={isChecked && isShort ? later.password.tooShort : null}
        />
        <SecretField
          label={later.password.repeat}
          autocomplete="new-password"
          {...bind.text('repeated')}
          invalid={isChecked && isDifferent ? later.password.mismatch : null}
        />
      </Form>
    </SignInFrame>
  )
}
