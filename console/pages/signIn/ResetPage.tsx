import { useState } from 'preact/hooks'
import { useAction } from '../../api/resource.ts'
import { send } from '../../api/send.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { TextField } from '../../ui/form/fields.tsx'
import { Refusal } from '../../ui/states.tsx'
import { Gate } from './Gate.tsx'

export default () => {
  const [account, setAccount] = useState('')
  const [email, setEmail] = useState('')
  const [isSent, setIsSent] = useState(false)
  const reset = useAction(async () => {
    const body = { account: account.trim(), email: email.trim() }
    await send({ method: 'POST', path: '/api/Auth/Reset', body })
    setIsSent(true)
  })
  if (isSent)
    return (
      <Gate title={text.reset.sentTitle} lead={text.reset.sent(email.trim())}>
        <LinkButton href="/">{text.reset.back}</LinkButton>
      </Gate>
    )
  return (
    <Gate title={text.reset.title} lead={text.reset.lead}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!reset.isPending) void reset.run()
        }}
      >
        <TextField
          label={text.signIn.account}
          hint={text.signIn.accountHint}
          value={account}
          onInput={setAccount}
          autocomplete="organization"
          pointer="/account"
          error={reset.error}
          autofocus
        />
        <TextField
          label={text.signIn.email}
          type="email"
          value={email}
          onInput={setEmail}
          autocomplete="username"
          pointer="/email"
          error={reset.error}
        />
        {reset.error && <Refusal error={reset.error} />}
        <Button type="submit" kind="primary" isPending={reset.isPending}>
          {text.reset.submit}
        </Button>
        <a class="center-link" href="/">
          {text.reset.back}
        </a>
      </form>
    </Gate>
  )
}
