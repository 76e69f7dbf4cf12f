import { useList } from '../../api/list.ts'
import type { User } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { ListPage } from '../../ui/list/ListPage.tsx'
import type { Column } from '../../ui/list/Table.tsx'
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
  { key: 'permissions', label: text.users.permissions, cell: privilegeName },
  {
    key: 'access',
    label: text.users.access,
    cell: ({ group }) => group ?? text.users.wholeAccount,
  },
  {
    key: 'seen',
    label: text.users.lastSeen,
    cell: ({ lastSeen }) => <Time value={lastSeen} isRelative />,
    isMinor: true,
  },
  { key: 'state', label: text.users.state, cell: (user) => <UserState user={user} /> },
]

export default () => (
  <ListPage
    words={text.users}
    icon="user"
    path="/users"
    columns={columns}
    pages={useList('GET /api/users', 'users')}
  />
)
