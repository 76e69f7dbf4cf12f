import { useList } from '../../api/list.ts'
import { isAdmin } from '../../api/people.ts'
import type { Group } from '../../api/types.ts'
import { formatNumber } from '../../format/units.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { ListPage } from '../../ui/list/ListPage.tsx'
import type { Column } from '../../ui/list/Table.tsx'
import { Time } from '../../ui/Time.tsx'

const columns: readonly Column<Group>[] = [
  { key: 'name', label: text.groups.name, cell: ({ name }) => name },
  {
    key: 'devices',
    label: text.groups.devices,
    cell: ({ devices }) => formatNumber(devices.length),
    isNumber: true,
  },
  { key: 'description', label: text.groups.description, cell: ({ description }) => description },
  {
    key: 'modified',
    label: text.groups.modified,
    cell: ({ lastModified }) => <Time value={lastModified} isRelative />,
    isMinor: true,
  },
]

/** Membership is closed to users who see one group only. */
export const canEditGroups = (): boolean =>
  session.can('write') && (isAdmin() || !session.me.value?.isConfined)

export default () => (
  <ListPage
    words={text.groups}
    icon="group"
    path="/groups"
    columns={columns}
    pages={useList('GET /api/groups', 'groups')}
    canAdd={canEditGroups()}
  />
)
