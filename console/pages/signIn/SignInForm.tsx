import { useState } from 'preact/hooks'
import { useAction } from '../../api/resource.ts'
import { readRemembered } from '../../session/remembered.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Choices } from '../../ui/form/Choices.tsx'
import { bindFields, useInput } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { SecretField, TextField } from '../../ui/form/fields.tsx'

type Method = 'password' | 'key'

const METHODS = [
  { value: 'password', label: text.signIn.byPassword },
  { value: 'key', label: text.signIn.byKey },
] as const

/** Signs in by password or by API key. The key stays in this form and in memory. */
export const SignInForm = ({ account: known = '', email: knownEmail = '' }) => {
  const [initial] = useState(() =>
    known ? { account: known, email: knownEmail } : readRemembered(),
  )
  const [method, setMethod] = useState<Method>('password')
  const { draft, change } = useInput({ ...initial, password: '', apiKey: '' })
  const signIn = useAction(() => {
    const account = draft.account.trim()
    return method === 'password'
      ? session.signInByPassword(account, draft.email.trim(), draft.password)
      : session.signInByKey(account, draft.apiKey.trim())
  })
  const bind = bindFields({ draft, change, error: signIn.error })
  return (
    <Form
      submitLabel={text.signIn.submit}
      action={signIn}
      actions={
        method === 'password' && (
          // Beside a page with typed input, in a tab of its own.
          <a class="center-link" href="/reset" target={known ? '_blank' : undefined}>
            {text.signIn.forgot}
          </a>
        )
      }
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
        autocomplete="organization"
        {...bind.text('account')}
        pointer={method === 'password' ? '/account' : '/userName'}
        required
        autofocus={!initial.account}
      />
      {method === 'password' ? (
        <>
          <TextField
            label={text.signIn.email}
            type="email"
            autocomplete="username"
            {...bind.text('email')}
            required
            autofocus={initial.account !== '' && !initial.email}
          />
          <SecretField
            label={text.signIn.password}
            autocomplete="current-password"
            {...bind.text('password')}
            required
            autofocus={initial.account !== '' && initial.email !== ''}
          />
        </>
      ) : (
        <SecretField
          label={text.signIn.apiKey}
          hint={text.signIn.apiKeyHint}
          placeholder="pgk_…"
          {...bind.text('apiKey')}
          required
        />
      )}
    </Form>
  )
}
