import { csvLine } from '../domain/text/csv.ts'
import type { UsageReport } from './readUsage.ts'
import type { ListedAccount } from './store.ts'

/** The account of an entry of the operator's list. */
export type ListedUsage = Pick<ListedAccount, 'userName' | 'name'> & {
  accountId: string
  usage: UsageReport
}

export const presentListed = ({ accountId, userName, name, usage }: ListedUsage) => ({
  accountId,
  userName,
  name,
  ...usage,
})

const MEMBERS = ['from', 'to', 'timeZone', 'closed', 'licenseDays', 'locations'] as const
const CHANNELS = ['email', 'sms', 'smsSegments', 'push', 'voice'] as const
const HEADER = [...MEMBERS, ...CHANNELS, 'providers', 'storageBytes', 'requests', 'exact']

/** Such as `Email resend 12 12; SMS twilio 3 5`: the messages and segments of each provider. */
const providersCell = ({ providers }: UsageReport): string =>
  providers
    .map(({ channel, provider, messages, segments }) =>
      [channel, provider, messages, segments].join(' '),
    )
    .join('; ')

const cells = (usage: UsageReport): unknown[] => [
  ...MEMBERS.map((name) => usage[name]),
  ...CHANNELS.map((name) => usage.messages[name]),
  providersCell(usage),
  usage.storageBytes,
  usage.requests,
  usage.exact.join(' '),
]

export const writeUsageCsv = (usage: UsageReport): string => csvLine(HEADER) + csvLine(cells(usage))

export const writeListCsv = (accounts: ListedUsage[]): string =>
  csvLine(['accountId', 'userName', 'name', ...HEADER]) +
  accounts
    .map(({ accountId, userName, name, usage }) =>
      csvLine([accountId, userName, name, ...cells(usage)]),
    )
    .join('')
