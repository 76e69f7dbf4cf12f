import type { Operations } from '../../api/operations.ts'
import { formatNumber } from '../../format/units.ts'
import { operatorText as words } from '../../text/operator.ts'
import type { Column } from '../../ui/list/Table.tsx'
import { Badge } from '../../ui/Page.tsx'

export type AccountUsage = Operations['GET /admin/usage']['reply']['accounts'][number]
export type Usage = Operations['GET /admin/accounts/{accountId}/usage']['reply']
type Shown = Pick<
  AccountUsage,
  'licenseDays' | 'locations' | 'messages' | 'storageBytes' | 'requests' | 'closed'
>

const MEGABYTE = 1e6

const figure = (
  key: string,
  label: string,
  read: (usage: Shown) => number,
): Column<Shown> & { isNumber: true } => ({
  key,
  label,
  isNumber: true,
  cell: (usage) => formatNumber(read(usage), key === 'storage' ? 1 : 0),
})

/** The figures of an invoice, after the columns that say what they are of. */
export const USAGE_COLUMNS: readonly Column<Shown>[] = [
  figure('licenseDays', words.usage.licenseDays, ({ licenseDays }) => licenseDays),
  figure('locations', words.usage.locations, ({ locations }) => locations),
  figure('emails', words.usage.emails, ({ messages }) => messages.email),
  {
    key: 'sms',
    label: words.usage.sms,
    isNumber: true,
    cell: ({ messages: { sms, smsSegments } }) =>
      words.usage.smsFigures(formatNumber(sms), formatNumber(smsSegments)),
  },
  figure('push', words.usage.push, ({ messages }) => messages.push),
  figure('voice', words.usage.voice, ({ messages }) => messages.voice),
  figure('storage', words.usage.storage, ({ storageBytes }) => storageBytes / MEGABYTE),
  figure('requests', words.usage.requests, ({ requests }) => requests),
  {
    key: 'state',
    label: words.usage.state,
    cell: ({ closed }) => (
      <Badge kind={closed ? 'good' : 'plain'}>
        {closed ? words.usage.closed : words.usage.open}
      </Badge>
    ),
  },
]
