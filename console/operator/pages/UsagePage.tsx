import { callForResponse } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { dayIn } from '../../format/time.ts'
import { lastMonths, monthName } from '../../pages/licenses/month.ts'
import { place, setQuery } from '../../router/router.ts'
import { operatorText as words } from '../../text/operator.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { saveFile } from '../../ui/download.ts'
import { SelectField } from '../../ui/form/fields.tsx'
import { Filters } from '../../ui/list/Filters.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { operator } from '../operator.ts'
import { nextCursorOf } from './nextCursor.ts'
import { type AccountUsage, USAGE_COLUMNS } from './usageColumns.tsx'

/** As long as the audit is kept, and a little more. */
const SHOWN_MONTHS = 14
const FORMATS = ['csv', 'stripe', 'lago'] as const

const Account = ({ of: { accountId, name, userName } }: { of: AccountUsage }) => {
  const label = name ?? words.usage.erased
  return (
    <span class="two-lines">
      {name !== null && operator.may('read') ? (
        <a href={`/operator/accounts/${accountId}`}>{label}</a>
      ) : (
        <span>{label}</span>
      )}
      <span class="muted">{userName ?? accountId}</span>
    </span>
  )
}

const COLUMNS: readonly Column<AccountUsage>[] = [
  { key: 'account', label: words.usage.account, cell: (usage) => <Account of={usage} /> },
  ...USAGE_COLUMNS,
]

/** All pages in one file; only the first keeps the header of its table. */
const download = async (month: string, format: (typeof FORMATS)[number]): Promise<void> => {
  const parts: string[] = []
  let cursor: string | null = null
  do {
    const query = { month, format, cursor }
    const response = await callForResponse('GET /admin/usage', { query })
    const body = await response.text()
    const isLater = cursor !== null && format === 'csv'
    parts.push(isLater ? body.slice(body.indexOf('\n') + 1) : body)
    cursor = nextCursorOf(response)
  } while (cursor !== null)
  const name = format === 'csv' ? `usage-${month}.csv` : `usage-${month}-${format}.ndjson`
  await saveFile(new Response(parts.join('')), name)
}

/** What all accounts have used in a month. */
export const UsagePage = () => {
  const months = lastMonths(dayIn('UTC'), SHOWN_MONTHS)
  const month = place.value.query.get('month') ?? months[0] ?? ''
  const pages = useList('GET /admin/usage', 'accounts', { query: { month, limit: 100 } })
  return (
    <Page title={words.usage.title} lead={words.usage.lead}>
      <Filters>
        <SelectField
          label={words.usage.month}
          value={month}
          choices={months.map((value) => ({ value, label: monthName(value) }))}
          onChange={(value) => setQuery({ month: value })}
        />
        {FORMATS.map((format) => (
          <ActionButton key={format} icon="download" onAct={() => download(month, format)}>
            {words.usage[format]}
          </ActionButton>
        ))}
      </Filters>
      <p class="hint">{words.usage.exact}</p>
      <Table
        label={words.usage.title}
        columns={COLUMNS}
        pages={pages}
        rowKey={({ accountId }) => accountId}
        empty={
          <Empty icon="license" title={words.usage.emptyTitle}>
            {words.usage.empty}
          </Empty>
        }
      />
    </Page>
  )
}
