import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { OperatedAccount } from '../../api/types.ts'
import { dayIn } from '../../format/time.ts'
import { lastDayOf, lastMonths, monthName, monthOf } from '../../pages/licenses/month.ts'
import { operatorText as words } from '../../text/operator.ts'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Card } from '../../ui/Page.tsx'
import { NotLoaded } from '../../ui/states.tsx'
import { USAGE_COLUMNS, type Usage } from '../pages/usageColumns.tsx'

const SHOWN_MONTHS = 3

const COLUMNS: readonly Column<Usage>[] = [
  { key: 'month', label: words.usage.month, cell: ({ from }) => monthName(monthOf(from)) },
  ...USAGE_COLUMNS,
]

/** What the account has used in this month and the last ones, as its invoices say. */
export const UsageCard = ({ account }: { account: OperatedAccount }) => {
  const { id, timeZone, creation } = account
  const today = dayIn(timeZone)
  const first = monthOf(dayIn(timeZone, Date.parse(creation)))
  const months = lastMonths(today, SHOWN_MONTHS).filter((month) => month >= first)
  const loaded = useResource(
    (signal) =>
      Promise.all(
        months.map((month, at) =>
          call('GET /admin/accounts/{accountId}/usage', {
            params: { accountId: id },
            query: { from: `${month}-01`, to: at === 0 ? today : lastDayOf(month) },
            signal,
          }),
        ),
      ),
    [id, today],
  )
  const { data } = loaded
  return (
    <Card title={words.usage.recent}>
      {data ? (
        <Table
          label={words.usage.recent}
          columns={COLUMNS}
          rowKey={({ from }) => from}
          pages={{
            items: data,
            error: null,
            isPending: false,
            hasMore: false,
            loadMore: loaded.reload,
            reload: loaded.reload,
            set: loaded.set,
          }}
          empty={null}
        />
      ) : (
        <NotLoaded of={loaded} rows={3} />
      )}
    </Card>
  )
}
