import { call } from '../../api/client.ts'
import { isAdmin } from '../../api/people.ts'
import { usePages } from '../../api/resource.ts'
import type { Group } from '../../api/types.ts'
import { formatNumber } from '../../format/units.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
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

export default () => {
  const pages = usePages<Group>(async (cursor, signal) => {
    const reply = await call('GET /api/groups', { query: { cursor }, signal })
    return { items: reply.groups, nextCursor: reply.nextCursor }
  }, [])
  const add = canEditGroups() && (
    <LinkButton kind="primary" icon="plus" href="/groups/new">
      {text.groups.add}
    </LinkButton>
  )
  return (
    <Page title={text.groups.title} lead={text.groups.lead} actions={add}>
      <Table
        label={text.groups.title}
        columns={columns}
        pages={pages}
        rowKey={({ id }) => id}
        href={({ id }) => `/groups/${id}`}
        empty={
          <Empty icon="group" title={text.groups.emptyTitle} action={add}>
            {text.groups.empty}
          </Empty>
        }
      />
    </Page>
  )
}
