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
    label: text.sources.name,
    cell: ({ name, provider }) => (
      <span class="two-lines">
        <b>{name}</b>
        <span class="muted">{later.providers[provider].name}</span>
      </span>
    ),
  },
  {
    key: 'lastReceived',
    label: text.sources.lastReceived,
    cell: (source) => <LastReceived source={source} />,
  },
  {
    key: 'unclaimed',
    label: text.sources.unclaimed,
    cell: ({ unclaimed }) => <Waiting count={unclaimed} />,
  },
  {
    key: 'failures',
    label: text.sources.failures,
    cell: ({ failures }) => <Waiting count={failures} />,
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
  const pages = useList('GET /api/sources', 'sources')
  usePolling(async (signal) => {
    const { items } = await readPage('GET /api/sources', 'sources', { signal })
    if (!pages.hasMore) pages.set(() => items)
  })
  return (
    <ListPage
      words={text.sources}
      icon="source"
      path="/sources"
      columns={columns}
      pages={pages}
      actions={
        <LinkButton icon="search" href="/sources/decode">
          {text.sources.tryPayload}
        </LinkButton>
      }
    />
  )
}
