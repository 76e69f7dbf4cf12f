import { readPage, useList } from '../../api/list.ts'
import type { Source } from '../../api/types.ts'
import { usePolling } from '../../live/usePolling.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { ListPage } from '../../ui/list/ListPage.tsx'
import type { Column } from '../../ui/list/Table.tsx'
import { Waiting } from '../../ui/Waiting.tsx'
import { LastReceived, SourceState } from './SourceState.tsx'

const columns: readonly Column<Source>[] = [
  {
    key: 'name',
    label: later.sources.name,
    cell: ({ name, provider }) => (
      <span class="two-lines">
        <b>{name}</b>
        <span class="muted">{later.providers[provider].name}</span>
      </span>
    ),
  },
  {
    key: 'lastReceived',
    label: later.sources.lastReceived,
    cell: (source) => <LastReceived source={source} />,
  },
  {
    key: 'unclaimed',
    label: later.sources.unclaimed,
    cell: ({ unclaimed }) => <Waiting count={unclaimed} />,
  },
  {
    key: 'failures',
    label: later.sources.failures,
    cell: ({ failures }) => <Waiting count={failures} />,
  },
  {
    key: 'newDevices',
    label: later.sources.newDevices,
    cell: ({ newDevices }) => later.sources.newDevicesChoices[newDevices],
    isMinor: true,
  },
  { key: 'state', label: later.sources.state, cell: (source) => <SourceState source={source} /> },
]

export default () => {
  const pages = useList('GET /api/sources', 'sources')
  usePolling(async (signal) => {
    const { items } = await readPage('GET /api/sources', 'sources', { signal })
    if (!pages.hasMore) pages.set(() => items)
  })
  return (
    <ListPage
      words={{ ...text.sources, ...later.sources }}
      icon="source"
      path="/sources"
      columns={columns}
      pages={pages}
      actions={
        <LinkButton icon="search" href="/sources/decode">
          {later.sources.tryPayload}
        </LinkButton>
      }
    />
  )
}
