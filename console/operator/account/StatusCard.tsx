import { useId, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { OperatedAccount } from '../../api/types.ts'
import { operatorText as words } from '../../text/operator.ts'
import { Confirm } from '../../ui/dialog/ConfirmButton.tsx'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { TextArea } from '../../ui/form/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { toast } from '../../ui/toast.tsx'
import { operator } from '../operator.ts'

type Status = OperatedAccount['status']
const DEGREES: readonly Status[] = ['active', 'notice', 'readOnly', 'ingestOnly', 'disabled']

interface DegreesProps {
  value: Status
  disabled: boolean
  onChange: (status: Status) => void
}

/** The degrees of suspension, each with what it does. */
const Degrees = ({ value, disabled, onChange }: DegreesProps) => {
  const name = useId()
  return (
    <fieldset class="degrees" disabled={disabled}>
      <legend class="visually-hidden">{words.status.title}</legend>
      {DEGREES.map((degree) => (
        <label key={degree} class={degree === value ? 'chosen' : ''}>
          <input
            type="radio"
            name={name}
            value={degree}
            checked={degree === value}
            onChange={() => onChange(degree)}
          />
          <b>{words.states[degree]}</b>
          <span class="hint">{words.status.degrees[degree]}</span>
        </label>
      ))}
    </fieldset>
  )
}

interface StatusCardProps {
  account: OperatedAccount
  onChanged: (account: OperatedAccount) => void
}

/** Suspends an account by degrees. Asks first, and says again what the degree does. */
export const StatusCard = ({ account, onChanged }: StatusCardProps) => {
  const { draft, change, changes, isDirty } = useDraft({
    status: account.status,
    statusMessage: account.statusMessage,
  })
  const [isAsking, setIsAsking] = useState(false)
  const save = useAction(async () => {
    const params = { accountId: account.id }
    const reply = await call('PATCH /admin/accounts/{accountId}', { params, body: changes })
    setIsAsking(false)
    onChanged(reply.account)
    toast(words.status.changed)
  })
  const isReadOnly = !operator.may('own') || account.deletedAt !== null
  const bind = bindFields({ draft, change, error: save.error, disabled: isReadOnly })
  return (
    <Card title={words.status.title}>
      <Form
        submitLabel={words.status.change}
        action={save}
        onSubmit={() => setIsAsking(true)}
        canSubmit={isDirty}
        isReadOnly={isReadOnly}
      >
        <Degrees
          value={draft.status}
          disabled={isReadOnly}
          onChange={(status) => change({ status })}
        />
        <p class="hint">{words.status.sos}</p>
        <TextArea
          label={words.status.message}
          hint={words.status.messageHint}
          {...bind.text('statusMessage')}
          maxLength={500}
        />
      </Form>
      {isAsking && (
        <Confirm
          title={words.status.confirmTitle(account.name, words.states[draft.status])}
          question={`${words.status.degrees[draft.status]} ${words.status.sos}`}
          confirmLabel={words.status.confirm}
          action={save}
          onClose={() => setIsAsking(false)}
        />
      )}
    </Card>
  )
}
