import { useEffect, useRef, useState } from 'preact/hooks'
import type { FormAction } from './Form.tsx'

/** In the middle: bars at the edges of a page or dialog would cover it. */
const show = (element: HTMLElement) => element.scrollIntoView({ block: 'center' })

/** Shows the first wrong field and puts the focus into it. */
const focusWrongField = (form: HTMLElement): void => {
  const wrong = form.querySelector<HTMLElement>('[aria-invalid="true"], p.field-error')
  const refusal = form.querySelector<HTMLElement>('.refusal')
  if (!wrong) {
    if (refusal) show(refusal)
    return
  }
  // What is said of several fields stands beside them.
  const isField = wrong.hasAttribute('aria-invalid')
  const fields = isField ? null : wrong.closest('fieldset')
  const field = fields?.querySelector<HTMLElement>(':is(input, select, textarea):enabled') ?? wrong
  if (field === wrong && !isField) field.tabIndex = -1
  field.focus({ preventScroll: true })
  show(field)
}

/** For a form: after a submit that was refused, the first wrong field has the focus. */
export const useWrongField = ({ isPending, error }: Pick<FormAction, 'isPending' | 'error'>) => {
  const form = useRef<HTMLFormElement>(null)
  const [submits, setSubmits] = useState(0)
  useEffect(() => {
    if (submits > 0 && !isPending && form.current) focusWrongField(form.current)
  }, [submits, isPending, error])
  return { form, onSubmitted: () => setSubmits((count) => count + 1) }
}
