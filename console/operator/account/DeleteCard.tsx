import { call } from '../../api/client.ts'
import type { OperatedAccount } from '../../api/types.ts'
import { navigate } from '../../router/router.ts'
import { operatorText as words } from '../../text/operator.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { ConfirmButton } from '../../ui/dialog/ConfirmButton.tsx'
import { Card, Facts } from '../../ui/Page.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { operator } from '../operator.ts'

interface DeleteCardProps {
  account: OperatedAccount
  onChanged: (account: OperatedAccount) => void
  onDeleted: () => void
}

/** Deletes an account, brings it back, or erases it at once. */
export const DeleteCard = ({ account, onChanged, onDeleted }: DeleteCardProps) => {
  const { id, name, userName, deletedAt, erasesAt } = account
  const params = { accountId: id }
  if (deletedAt === null && !operator.may('own')) return null
  return (
    <Card title={words.remove.title}>
      <div class="stack">
        {deletedAt === null ? (
          <p class="hint">{words.remove.lead}</p>
        ) : (
          <Facts
            facts={[
              [words.remove.deletedOn, <Time key="deleted" value={deletedAt} />],
              [words.remove.erasesOn, <Time key="erases" value={erasesAt} />],
            ]}
          />
        )}
        {operator.may('own') && (
          <div class="actions">
            {deletedAt === null ? (
              <ConfirmButton
                kind="danger"
                icon="trash"
                label={words.remove.delete}
                title={words.remove.deleteTitle(name)}
                question={words.remove.deleteQuestion}
                confirmLabel={words.remove.delete}
                name={userName}
                onConfirm={async () => {
                  await call('DELETE /admin/accounts/{accountId}', { params })
                  toast(words.remove.deleted(name))
                  onDeleted()
                }}
              />
            ) : (
              <ActionButton
                kind="primary"
                icon="refresh"
                onAct={async () => {
                  const path = 'POST /admin/accounts/{accountId}/undelete'
                  onChanged((await call(path, { params })).account)
                  toast(words.remove.undeleted(name))
                }}
              >
                {words.remove.undelete}
              </ActionButton>
            )}
            <ConfirmButton
              kind="danger"
              icon="trash"
              label={words.remove.erase}
              title={words.remove.eraseTitle(name)}
              question={words.remove.eraseQuestion}
              confirmLabel={words.remove.eraseConfirm}
              name={userName}
              onConfirm={async () => {
                const options = { params, query: { now: true }, body: { userName } }
                await call('DELETE /admin/accounts/{accountId}', options)
                toast(words.remove.erased(name))
                navigate('/operator', { replace: true })
              }}
            />
          </div>
        )}
      </div>
    </Card>
  )
}
