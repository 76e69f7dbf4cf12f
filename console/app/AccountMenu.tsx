import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../api/resource.ts'
import { THEMES, theme, UNITS, units } from '../format/preferences.ts'
import { session } from '../session/session.ts'
import { text } from '../text/text.ts'
import { Button } from '../ui/Button.tsx'
import { SelectField } from '../ui/form/fields.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Refusal } from '../ui/states.tsx'

const themes = THEMES.map((value) => ({ value, label: text.shell.themes[value] }))
const unitNames = UNITS.map((value) => ({ value, label: text.shell.unitNames[value] }))

/** Who is signed in, and the choices of this browser. */
export const AccountMenu = () => {
  const [isOpen, setIsOpen] = useState(false)
  const frame = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const signOut = useAction(() => session.signOut())
  useEffect(() => {
    if (!isOpen) return
    const close = ({ target }: MouseEvent) => {
      if (!frame.current?.contains(target as Node)) setIsOpen(false)
    }
    const closeByKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return
      setIsOpen(false)
      button.current?.focus()
    }
    addEventListener('click', close)
    addEventListener('keydown', closeByKey)
    return () => {
      removeEventListener('click', close)
      removeEventListener('keydown', closeByKey)
    }
  }, [isOpen])
  const me = session.me.value
  if (!me) return null
  return (
    <div class="account" ref={frame}>
      <button
        ref={button}
        type="button"
        class="account-button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        <span class="avatar" aria-hidden="true">
          {(me.user?.name ?? me.account.name).slice(0, 1).toUpperCase()}
        </span>
        <span class="account-names">
          <b>{me.account.name}</b>
          <span>{me.user?.name ?? text.shell.signedInByKey}</span>
        </span>
        <span class="visually-hidden">{text.shell.menu}</span>
        <Icon name="down" size={15} />
      </button>
      {isOpen && (
        <div class="account-panel">
          <SelectField
            label={text.shell.theme}
            value={theme.value}
            choices={themes}
            onChange={(value) => {
              theme.value = value
            }}
          />
          <SelectField
            label={text.shell.units}
            value={units.value}
            choices={unitNames}
            onChange={(value) => {
              units.value = value
            }}
          />
          <a class="button quiet" href="/docs">
            <Icon name="book" size={16} />
            <span>{text.shell.reference}</span>
          </a>
          <Button icon="out" isPending={signOut.isPending} onClick={() => signOut.run()}>
            {text.shell.signOut}
          </Button>
          {signOut.error && <Refusal error={signOut.error} />}
        </div>
      )}
    </div>
  )
}
