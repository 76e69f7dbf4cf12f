import { text } from '../../text/text.ts'
import { Gate } from './Gate.tsx'
import { SignInForm } from './SignInForm.tsx'

export const SignInPage = () => (
  <Gate title={text.signIn.title} lead={text.signIn.lead}>
    <SignInForm />
  </Gate>
)
