import { useState } from 'preact/hooks'
import { useAction } from '../../api/resource.ts'
import { send } from '../../api/send.ts'
import { readRemembered } from '../../session/remembered.ts'
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
    await send({ method: 'POST', path: '/api/Auth/Reset', body })
    setIsSent(true)
  })
  if (isSent)
    return (
      <SignInFrame title={text.reset.sentTitle} lead={text.reset.sent(draft.email.trim())}>
        <LinkButton href="/">{text.reset.back}</LinkButton>
      </SignInFrame>
    )
  const bind = bindFields({ draft, change, error: reset.error })
  return (
    <SignInFrame title={text.reset.title} lead={text.reset.lead}>
      <Form
        submitLabel={text.reset.submit}
        action={reset}
        actions={
          <a class="center-link" href="/">
            {text.reset.back}
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
