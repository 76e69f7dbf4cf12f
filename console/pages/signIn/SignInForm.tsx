import { useState } from 'preact/hooks'
import { useAction } from '../../api/resource.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { Choices } from '../../ui/form/Choices.tsx'
import { SecretField, TextField } from '../../ui/form/fields.tsx'
import { Refusal } from '../../ui/states.tsx'

type Method = 'password' | 'key'

const METHODS = [
  { value: 'password', label: text.signIn.byPassword },
  { value: 'key', label: text.signIn.byKey },
] as const

/** Signs in by password or by API key. The key stays in this form and in memory. */
export const SignInForm = ({ account: known = '', email: knownEmail = '' }) => {
  const [method, setMethod] = useState<Method>('password')
  const [account, setAccount] = useState(known)
  const [email, setEmail] = useState(knownEmail)
  const [password, setPassword] = useState('')
  const [apiKey, setApiKey] = useState('')
  const signIn = useAction(() =>
    method === 'password'
      ? session.signInByPassword(account.trim(), email.trim(), password)
      : session.signInByKey(account.trim(), apiKey.trim()),
  )
  const { error } = signIn
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!signIn.isPending) void signIn.run()
      }}
    >
      <Choices
        label={text.signIn.method}
        isLabelHidden
        value={method}
        choices={METHODS}
        onChange={(value) => {
          signIn.clear()
          setMethod(value)
        }}
      />
      <TextField
        label={text.signIn.account}
        hint={text.signIn.accountHint}
        value={account}
        onInput={setAccount}
        autocomplete="organization"
        pointer={method === 'password' ? '/account' : '/userName'}
        error={error}
        required
        autofocus
      />
      {method === 'password' ? (
        <>
          <TextField
            label={text.signIn.email}
            type="email"
            value={email}
            onInput={setEmail}
            autocomplete="username"
            pointer="/email"
            error={error}
            required
          />
          <SecretField
            label={text.signIn.password}
            value={password}
            onInput={setPassword}
            autocomplete="current-password"
            pointer="/password"
            error={error}
            required
          />
        </>
      ) : (
        <SecretField
          label={text.signIn.apiKey}
          hint={text.signIn.apiKeyHint}
          value={apiKey}
          onInput={setApiKey}
          placeholder="pgk_…"
          pointer="/apiKey"
          error={error}
          required
        />
      )}
      {error && <Refusal error={error} />}
      <Button type="submit" kind="primary" isPending={signIn.isPending}>
        {text.signIn.submit}
      </Button>
      {method === 'password' && (
        // Beside a page with typed input, in a tab of its own.
        <a class="center-link" href="/reset" target={known ? '_blank' : undefined}>
          {text.signIn.forgot}
        </a>
      )}
    </form>
  )
}
