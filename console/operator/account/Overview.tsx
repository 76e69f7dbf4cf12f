import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { NewKeyReply, OperatedAccount } from '../../api/types.ts'
import { formatDateTime, formatDay } from '../../format/time.ts'
import { AccountUse, Copied } from '../../pages/settings/AccountUse.tsx'
import { operatorText as words } from '../../text/operator.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { LinkButton } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/dialog/ConfirmButton.tsx'
import { ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { Card, Facts } from '../../ui/Page.tsx'
import { Time } from '../../ui/Time.tsx'
import { operator } from '../operator.ts'

/** For a customer who has lost all keys. */
const MakeKey = ({ account: { id, name } }: { account: OperatedAccount }) => {
  const [made, setMade] = useState<NewKeyReply | null>(null)
  return (
    <>
      <ConfirmButton
        icon="key"
        size="small"
        label={words.account.makeKey}
        title={words.account.makeKeyTitle(name)}
        question={words.account.makeKeyQuestion}
        confirmLabel={words.account.makeKeyConfirm}
        onConfirm={async () =>
          setMade(
            await call('POST /admin/accounts/{accountId}/keys', { params: { accountId: id } }),
          )
        }
      />
      {made && (
        <ShownOnce
          title={words.account.makeKey}
          label={words.account.madeKey}
          value={made.apiKey}
          onClose={() => setMade(null)}
        />
      )}
    </>
  )
}

const sandboxFact = ({ sandbox }: OperatedAccount): [string, string] => [
  words.account.sandbox,
  sandbox?.erasesAt
    ? words.account.sandboxErases(formatDateTime(sandbox.erasesAt))
    : text.common.yes,
]

interface OverviewProps {
  account: OperatedAccount
  onChanged: (account: OperatedAccount) => void
}

/** Who the account is, and what it uses of its limits. */
export const Overview = ({ account, onChanged }: OverviewProps) => {
  const keep = async () => {
    const params = { accountId: account.id }
    onChanged((await call('POST /admin/accounts/{accountId}/keep', { params })).account)
  }
  const canKeep = account.sandbox?.erasesAt && account.deletedAt === null && operator.may('own')
  return (
    <Card title={words.account.overview}>
      <div class="stack">
        <Facts
          facts={[
            [words.account.userName, <Copied key="name" value={account.userName} />],
            [words.account.id, <Copied key="id" value={account.id} />],
            [words.account.cell, account.cell],
            [words.account.timeZone, account.timeZone],
            [words.account.retention, words.account.days(account.retentionDays)],
            [
              words.account.supportMayWrite,
              account.supportMayWrite ? text.common.yes : text.common.no,
            ],
            [words.account.created, <Time key="created" value={account.creation} />],
            ...(account.sandbox ? [sandboxFact(account)] : []),
            [words.account.today, formatDay(account.budgetUsage.date)],
          ]}
        />
        <AccountUse account={account} />
        <div class="actions">
          <LinkButton size="small" icon="list" href={`/operator/audit?account=${account.id}`}>
            {words.account.seeAudit}
          </LinkButton>
          {operator.may('own') && account.deletedAt === null && <MakeKey account={account} />}
          {canKeep && (
            <ActionButton size="small" onAct={keep}>
              {words.account.keepSandbox}
            </ActionButton>
          )}
        </div>
      </div>
    </Card>
  )
}
