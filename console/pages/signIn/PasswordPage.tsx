import { useState } from 'preact/hooks'
import { useAction } from '../../api/resource.ts'
import { send } from '../../api/send.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { SecretField } from '../../ui/form/fields.tsx'
import { Refusal } from '../../ui/states.tsx'
import { Gate } from './Gate.tsx'

const MIN_CHARS = 12

/** The link's secret part is in the fragment, which browsers send to no server. */
const readLink = (): string => location.hash.slice(1)

/** Sets the first password of an invited user, or a new one. */
export default () => {
  const [link] = useState(readLink)
  const [password, setPassword] = useState('')
  const [repeated, setRepeated] = useState('')
  const [isChecked, setIsChecked] = useState(false)
  const [isDone, setIsDone] = useState(false)
  const set = useAction(async () => {
    await send({ method: 'POST', path: '/api/Auth/Password', body: { link, password } })
    history.replaceState(history.state, '', '/password')
    setIsDone(true)
  })
  const isShort = [...password].length < MIN_CHARS
  const isDifferent = password !== repeated
  if (isDone)
    return (
      <Gate title={text.password.doneTitle} lead={text.password.done}>
        <LinkButton kind="primary" href="/">
          {text.signIn.submit}
        </LinkButton>
      </Gate>
    )
  if (!link)
    return (
      <Gate title={text.password.noLinkTitle} lead={text.password.noLink}>
        <LinkButton href="/">{text.reset.back}</LinkButton>
      </Gate>
    )
  return (
    <Gate title={text.password.title} lead={text.password.lead}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setIsChecked(true)
          if (!isShort && !isDifferent && !set.isPending) void set.run()
        }}
      >
        <SecretField
          label={text.password.label}
          value={password}
          onInput={setPassword}
          autocomplete="new-password"
          pointer="/password"
          error={set.error}
          invalid={isChecked && isShort ? text.password.tooShort : null}
        />
        <SecretField
          label={text.password.repeat}
          value={repeated}
          onInput={setRepeated}
          autocomplete="new-password"
          invalid={isChecked && isDifferent ? text.password.mismatch : null}
        />
        {set.error && <Refusal error={set.error} />}
        <Button type="submit" kind="primary" isPending={set.isPending}>
          {text.password.submit}
        </Button>
      </form>
    </Gate>
  )
}
