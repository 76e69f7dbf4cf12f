import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { Operations } from '../../api/operations.ts'
import { useAction } from '../../api/resource.ts'
import type { OperatedAccount } from '../../api/types.ts'
import { session } from '../../session/session.ts'
import { operatorText as words } from '../../text/operator.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { Button } from '../../ui/Button.tsx'
import { ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { bindFields, useInput } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { CheckField, SelectField, TextField } from '../../ui/form/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'

const MINUTES = ['15', '60', '240', '480'] as const

type Started = Operations['POST /admin/accounts/{accountId}/support']['reply']
interface SupportCardProps {
  account: OperatedAccount
  onChanged: () => void
}

/** Who has access now. */
const Current = ({ account, onChanged }: SupportCardProps) => {
  const { id: accountId, support = [] } = account
  if (support.length === 0) return <p class="hint">{words.support.nobody}</p>
  return (
    <ul class="plain-list">
      {support.map(({ id, operator, reason, until }) => (
        <li key={id} class="with-button">
          <span>
            <b>{operator}</b> {words.support.until} <Time value={until} />: {reason}
          </span>
          <ActionButton
            size="small"
            onAct={async () => {
              const params = { accountId, keyId: id }
              await call('DELETE /admin/accounts/{accountId}/support/{keyId}', { params })
              toast(words.support.ended)
              onChanged()
            }}
          >
            {words.support.end}
          </ActionButton>
        </li>
      ))}
    </ul>
  )
}

/** Gets a token of the account for a while, with a reason that the account sees. */
export const SupportCard = ({ account, onChanged }: SupportCardProps) => {
  const { draft, change } = useInput({
    reason: '',
    minutes: '60' as (typeof MINUTES)[number],
    mayWrite: false,
  })
  const [started, setStarted] = useState<Started | null>(null)
  const start = useAction(async () => {
    const { reason, minutes, mayWrite } = draft
    setStarted(
      await call('POST /admin/accounts/{accountId}/support', {
        params: { accountId: account.id },
        body: {
          reason,
          minutes: Number(minutes),
          scopes: mayWrite ? ['read', 'write', 'execute'] : ['read'],
        },
      }),
    )
    change({ reason: '' })
  })
  const bind = bindFields({ draft, change, error: start.error })
  const token = started?.token ?? null
  return (
    <Card title={words.support.title}>
      <div class="stack">
        <p class="hint">{words.support.lead}</p>
        <Current account={account} onChanged={onChanged} />
        <Form
          submitLabel={words.support.start}
          action={start}
          canSubmit={draft.reason.trim() !== ''}
        >
          <TextField
            label={words.support.reason}
            hint={words.support.reasonHint}
            {...bind.text('reason')}
            maxLength={200}
            autocomplete="off"
            required
          />
          <SelectField
            label={words.support.minutes}
            choices={MINUTES.map((value) => ({ value, label: words.support.minuteNames[value] }))}
            {...bind.choice('minutes')}
          />
          {account.supportMayWrite ? (
            <CheckField
              label={words.support.mayWrite}
              hint={words.support.mayWriteHint}
              {...bind.check('mayWrite')}
            />
          ) : (
            <p class="hint">{words.support.readsOnly}</p>
          )}
        </Form>
      </div>
      {started && (
        <ShownOnce
          title={words.support.startedTitle(account.name)}
          label={words.support.token}
          value={token}
          onClose={() => {
            setStarted(null)
            onChanged()
          }}
        >
          {token !== null && (
            <div class="actions">
              <Button
                icon="eye"
                onClick={() => session.openSupport({ token, expires: started.support.until })}
              >
                {words.support.open}
              </Button>
            </div>
          )}
        </ShownOnce>
      )}
    </Card>
  )
}
