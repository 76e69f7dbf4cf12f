import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Dialog } from '../../ui/dialog/Dialog.tsx'
import { SignInForm } from './SignInForm.tsx'

/** Asks over the page, which stays as it is with everything typed into it. */
export const SignInAgain = () => (
  <Dialog title={text.signIn.expiredTitle} onClose={() => undefined} canClose={false}>
    <p class="lead">{text.signIn.expired}</p>
    <SignInForm
      account={session.me.value?.account.userName ?? ''}
      email={session.me.value?.user?.email ?? ''}
    />
  </Dialog>
)
