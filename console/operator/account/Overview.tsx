import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { NewKeyReply, OperatedAccount } from '../../api/types.ts'
import { formatDay } from '../../format/time.ts'
import { formatNumber } from '../../format/units.ts'
import { operatorText as words } from '../../text/operator.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { ConfirmButton } from '../../ui/dialog/ConfirmButton.tsx'
import { ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { Bar } from '../../ui/Meter.tsx'
import { Card, Facts } from '../../ui/Page.tsx'
import { Time } from '../../ui/Time.tsx'
import { operator } from '../operator.ts'

const MEGABYTE = 1e6

const Copied = ({ value }: { value: string }) => (
  <span class="with-button">
    <code>{value}</code>
    <CopyButton value={value} isSmall />
  </span>
)

interface UsedProps {
  label: string
  used: number
  of: number
  unit?: string
}

const Used = ({ label, used, of, unit = '' }: UsedProps) => (
  <Bar
    label={label}
    value={used}
    max={of}
    figures={words.account.usedOf(formatNumber(used, 1), formatNumber(of), unit)}
  />
)

/** For a customer who has lost all keys. */
const MakeKey = ({ account: { id } }: { account: OperatedAccount }) => {
  const [made, setMade] = useState<NewKeyReply | null>(null)
  return (
    <>
      <ConfirmButton
        icon="key"
        size="small"
        label={words.account.makeKey}
        title={words.account.makeKeyTitle}
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

/** Who the account is, and what it uses of its limits. */
export const Overview = ({ account }: { account: OperatedAccount }) => {
  const { budgets, budgetUsage, licenses } = account
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
            [words.account.today, formatDay(budgetUsage.date)],
          ]}
        />
        <Used label={words.account.licenses} used={licenses.used} of={licenses.total} />
        <Used
          label={words.account.locations}
          used={budgetUsage.locations}
          of={budgets.locationsPerDay}
        />
        <Used
          label={words.account.storage}
          used={budgetUsage.storageBytes / MEGABYTE}
          of={budgets.storageBytes / MEGABYTE}
          unit="MB"
        />
        <Used
          label={words.account.emails}
          used={budgetUsage.messages?.Email ?? 0}
          of={budgets.messagesPerDay.Email}
        />
        <Used
          label={words.account.sms}
          used={budgetUsage.messages?.SMS ?? 0}
          of={budgets.messagesPerDay.SMS}
        />
        <div class="actions">
          <LinkButton size="small" icon="list" href={`/operator/audit?account=${account.id}`}>
            {words.account.seeAudit}
          </LinkButton>
          {operator.may('own') && account.deletedAt === null && <MakeKey account={account} />}
        </div>
      </div>
    </Card>
  )
}
