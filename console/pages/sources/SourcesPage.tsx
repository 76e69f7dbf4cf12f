import { call } from '../../api/client.ts'
import { usePages } from '../../api/resource.ts'
import type { Source } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { LastReceived, SourceState } from './SourceState.tsx'

const columns: readonly Column<Source>[] = [
  {
    key: 'name',
    label: text.sources.name,
    cell: ({ name, provider }) => (
      <span class="two-lines">
        <b>{name}</b>
        <span class="muted">{text.sources.providers[provider].name}</span>
      </span>
    ),
  },
  {
    key: 'lastReceived',
    label: text.sources.lastReceived,
    cell: (source) => <LastReceived source={source} />,
  },
  {
    key: 'newDevices',
    label: text.sources.newDevices,
    cell: ({ newDevices }) => text.sources.newDevicesChoices[newDevices],
    isMinor: true,
  },
  { key: 'state', label: text.sources.state, cell: (source) => <SourceState source={source} /> },
]

export default () => {
  const pages = usePages<Source>(async (cursor, signal) => {
    const reply = await call('GET /api/sources', { query: { cursor }, signal })
    return { items: reply.sources, nextCursor: reply.nextCursor }
  }, [])
  const add = (
    <LinkButton kind="primary" icon="plus" href="/sources/new">
      {text.sources.add}
    </LinkButton>
  )
  return (
    <Page
      title={text.sources.title}
      lead={text.sources.lead}
      actions={
        <>
          <LinkButton icon="search" href="/sources/decode">
            {text.sources.tryPayload}
          </LinkButton>
          {add}
        </>
      }
    >
      <Table
        label={text.sources.title}
        columns={columns}
        pages={pages}
        rowKey={({ id }) => id}
        href={({ id }) => `/sources/${id}`}
        empty={
          <Empty icon="source" title={text.sources.emptyTitle}>
            {text.sources.empty}
          </Empty>
        }
      />
    </Page>
  )
}
