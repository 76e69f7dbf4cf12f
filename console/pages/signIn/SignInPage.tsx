import { text } from '../../text/text.ts'
import { SignInForm } from './SignInForm.tsx'
import { SignInFrame } from './SignInFrame.tsx'

export const SignInPage = () => (
  <SignInFrame title={text.signIn.title} lead={text.signIn.lead}>
    <SignInForm />
  </SignInFrame>
)
