import { useState } from 'preact/hooks'
import { useList } from '../../api/list.ts'
import type { OperatedAccount } from '../../api/types.ts'
import { formatNumber } from '../../format/units.ts'
import { navigate, place, setQuery } from '../../router/router.ts'
import { operatorText as words } from '../../text/operator.ts'
import { Button } from '../../ui/Button.tsx'
import { SearchInput } from '../../ui/form/SearchInput.tsx'
import { Filters } from '../../ui/list/Filters.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { NewAccount } from '../account/NewAccount.tsx'
import { StatusBadge } from '../account/StatusBadge.tsx'
import { operator } from '../operator.ts'

const PAGE_SIZE = 100

const COLUMNS: readonly Column<OperatedAccount>[] = [
  {
    key: 'name',
    label: words.accounts.name,
    cell: ({ name, userName }) => (
      <span class="two-lines">
        <span>{name}</span>
        <span class="muted">{userName}</span>
      </span>
    ),
  },
  {
    key: 'state',
    label: words.accounts.state,
    cell: (account) => <StatusBadge account={account} />,
  },
  {
    key: 'licenses',
    label: words.accounts.licenses,
    isNumber: true,
    cell: ({ licenses }) =>
      words.accounts.ofTotal(formatNumber(licenses.used), formatNumber(licenses.total)),
  },
  {
    key: 'cell',
    label: words.accounts.cell,
    isNumber: true,
    isMinor: true,
    cell: ({ cell }) => cell,
  },
  {
    key: 'created',
    label: words.accounts.created,
    isMinor: true,
    cell: ({ creation }) => <Time value={creation} />,
  },
]

const STATES = ['active', 'notice', 'readOnly', 'ingestOnly', 'disabled', 'deleted'] as const

interface Filter {
  q: string
  state: string
  cell: string
}

const AccountFilters = ({ q, state, cell }: Filter) => (
  <Filters>
    <SearchInput
      label={words.accounts.search}
      value={q}
      onInput={(value) => setQuery({ q: value })}
    />
    <select
      class="input narrow"
      aria-label={words.accounts.state}
      value={state}
      onChange={({ currentTarget }) => setQuery({ state: currentTarget.value })}
    >
      <option value="">{words.accounts.anyState}</option>
      {STATES.map((one) => (
        <option key={one} value={one}>
          {words.states[one]}
        </option>
      ))}
    </select>
    <input
      class="input narrow cell-filter"
      type="number"
      min={0}
      max={9999}
      aria-label={words.accounts.cell}
      placeholder={words.accounts.anyCell}
      value={cell}
      onChange={({ currentTarget }) => setQuery({ cell: currentTarget.value })}
    />
  </Filters>
)

/** All accounts, by what they are called, their state and where they are stored. */
export const AccountsPage = () => {
  const { query } = place.value
  const [q, state, cell] = ['q', 'state', 'cell'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
  ]
  const [isOpening, setIsOpening] = useState(false)
  const pages = useList('GET /admin/accounts', 'accounts', {
    query: { q, state, cell, limit: PAGE_SIZE },
  })
  const open = operator.may('own') && (
    <Button kind="primary" icon="plus" onClick={() => setIsOpening(true)}>
      {words.accounts.open}
    </Button>
  )
  return (
    <Page title={words.accounts.title} actions={open}>
      <AccountFilters q={q} state={state} cell={cell} />
      <Table
        label={words.accounts.title}
        columns={COLUMNS}
        pages={pages}
        href={({ id }) => `/operator/accounts/${id}`}
        empty={
          q || state || cell ? (
            <Empty icon="search" title={words.accounts.noMatchTitle}>
              {words.accounts.noMatch}
            </Empty>
          ) : (
            <Empty icon="group" title={words.accounts.emptyTitle} action={open}>
              {words.accounts.empty}
            </Empty>
          )
        }
      />
      {isOpening && (
        <NewAccount
          onClose={() => setIsOpening(false)}
          onOpened={({ id }) => navigate(`/operator/accounts/${id}`)}
        />
      )}
    </Page>
  )
}
