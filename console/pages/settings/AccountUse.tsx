import type { Account } from '../../api/types.ts'
import { formatNumber } from '../../format/units.ts'
import { text } from '../../text/text.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Bar } from '../../ui/Meter.tsx'

const MEGABYTE = 1e6

/** What somebody else may have to enter, with a button to copy it. */
export const Copied = ({ value }: { value: string }) => (
  <span class="with-button">
    <code>{value}</code>
    <CopyButton value={value} isSmall />
  </span>
)

type Shown = Pick<Account, 'budgets' | 'budgetUsage' | 'licenses'>

/** What an account uses of its limits. */
export const AccountUse = ({ account }: { account: Shown }) => {
  const { budgets, budgetUsage, licenses } = account
  const words = text.settings
  const { Email = 0, SMS = 0 } = budgetUsage.messages ?? {}
  const rows: readonly [label: string, used: number, of: number, unit?: string][] = [
    [words.licenses, licenses.used, licenses.total],
    [words.locationsToday, budgetUsage.locations, budgets.locationsPerDay],
    [words.storage, budgetUsage.storageBytes / MEGABYTE, budgets.storageBytes / MEGABYTE, 'MB'],
    [words.emailsToday, Email, budgets.messagesPerDay.Email],
    [words.smsToday, SMS, budgets.messagesPerDay.SMS],
  ]
  return (
    <>
      {rows.map(([label, used, of, unit = '']) => (
        <Bar
          key={label}
          label={label}
          value={used}
          max={of}
          figures={words.usedOf(formatNumber(used, 1), formatNumber(of), unit)}
        />
      ))}
    </>
  )
}
