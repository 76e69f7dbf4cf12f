import { useState } from 'preact/hooks'
import { sendOnce } from '../../api/connection.ts'
import { useAction } from '../../api/resource.ts'
import { readRemembered } from '../../session/remembered.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { bindFields, useInput } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { TextField } from '../../ui/form/fields.tsx'
import { SignInFrame } from './SignInFrame.tsx'

export default () => {
  const { draft, change } = useInput(readRemembered)
  const [isSent, setIsSent] = useState(false)
  const reset = useAction(async () => {
    const body = { account: draft.account.trim(), email: draft.email.trim() }
    await sendOnce('POST', '/api/Auth/Reset', { body })
    setIsSent(true)
  })
  if (isSent)
    return (
      <SignInFrame title={later.reset.sentTitle} lead={later.reset.sent(draft.email.trim())}>
        <LinkButton href="/">{later.reset.back}</LinkButton>
      </SignInFrame>
    )
  const bind = bindFields({ draft, change, error: reset.error })
  return (
    <SignInFrame title={later.reset.title} lead={later.reset.lead}>
      <Form
        submitLabel={later.reset.submit}
        action={reset}
        actions={
          <a class="center-link" href="/">
            {later.reset.back}
          </a>
        }
      >
        <TextField
          label={text.signIn.account}
          hint={text.signIn.accountHint}
          autocomplete="organization"
          {...bind.text('account')}
          autofocus
        />
        <TextField
          label={text.signIn.email}
          type="email"
          autocomplete="username"
          {...bind.text('email')}
        />
      </Form>
    </SignInFrame>
  )
}
