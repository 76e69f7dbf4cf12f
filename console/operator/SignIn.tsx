import { useState } from 'preact/hooks'
import { useAction } from '../api/resource.ts'
import { SignInFrame } from '../pages/signIn/SignInFrame.tsx'
import { operatorText as words } from '../text/operator.ts'
import { text } from '../text/text.ts'
import { Form } from '../ui/form/Form.tsx'
import { SecretField } from '../ui/form/fields.tsx'
import { operator } from './operator.ts'

/** Takes the key of an operator. Cloudflare Access signs in before the page is loaded. */
export const SignIn = () => {
  const [key, setKey] = useState('')
  const signIn = useAction(() => operator.signIn(key.trim()))
  return (
    <SignInFrame title={words.signIn.title} lead={words.signIn.lead}>
      <Form submitLabel={text.signIn.submit} action={signIn} canSubmit={key.trim() !== ''}>
        <SecretField
          label={words.signIn.key}
          hint={words.signIn.keyHint}
          placeholder="pgo_…"
          value={key}
          onInput={setKey}
          required
          autofocus
        />
      </Form>
    </SignInFrame>
  )
}
