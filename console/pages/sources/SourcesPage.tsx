import { useList } from '../../api/list.ts'
import type { Source } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { ListPage } from '../../ui/list/ListPage.tsx'
import type { Column } from '../../ui/list/Table.tsx'
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

export default () => (
  <ListPage
    words={text.sources}
    icon="source"
    path="/sources"
    columns={columns}
    pages={useList('GET /api/sources', 'sources')}
    actions={
      <LinkButton icon="search" href="/sources/decode">
        {text.sources.tryPayload}
      </LinkButton>
    }
  />
)
