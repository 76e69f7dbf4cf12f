import { call } from '../../api/client.ts'
import { usePages } from '../../api/resource.ts'
import type { User } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { privilegeName, UserState } from './UserState.tsx'

const columns: readonly Column<User>[] = [
  {
    key: 'name',
    label: text.users.name,
    cell: ({ name, description }) => (
      <span class="two-lines">
        <b>{name}</b>
        {description && <span class="muted">{description}</span>}
      </span>
    ),
  },
  { key: 'email', label: text.users.email, cell: ({ email }) => email },
  { key: 'may', label: text.users.may, cell: privilegeName },
  { key: 'sees', label: text.users.sees, cell: ({ group }) => group ?? text.users.wholeAccount },
  {
    key: 'login',
    label: text.users.lastLogin,
    cell: ({ lastLogin }) => <Time value={lastLogin} isRelative />,
    isMinor: true,
  },
  { key: 'state', label: text.users.state, cell: (user) => <UserState user={user} /> },
]

export default () => {
  const pages = usePages<User>(async (cursor, signal) => {
    const reply = await call('GET /api/users', { query: { cursor }, signal })
    return { items: reply.users, nextCursor: reply.nextCursor }
  }, [])
  const add = (
    <LinkButton kind="primary" icon="plus" href="/users/new">
      {text.users.add}
    </LinkButton>
  )
  return (
    <Page title={text.users.title} lead={text.users.lead} actions={add}>
      <Table
        label={text.users.title}
        columns={columns}
        pages={pages}
        rowKey={({ id }) => id}
        href={({ id }) => `/users/${id}`}
        empty={
          <Empty icon="user" title={text.users.emptyTitle} action={add}>
            {text.users.empty}
          </Empty>
        }
      />
    </Page>
  )
}
