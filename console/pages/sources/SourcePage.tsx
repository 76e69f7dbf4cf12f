import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { usePages, useResource } from '../../api/resource.ts'
import type { Source } from '../../api/types.ts'
import type { PageProps } from '../../app/routes.ts'
import { usePolling } from '../../live/usePolling.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { WhoChanged } from '../../ui/audit/WhoChanged.tsx'
import { Card, Facts, Page } from '../../ui/Page.tsx'
import { Unloaded } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { SourceActions } from './actions.tsx'
import { AppSetup } from './apps/AppSetup.tsx'
import { Failures } from './failures/Failures.tsx'
import { PortalSteps } from './PortalSteps.tsx'
import { LastReceived, SourceState } from './SourceState.tsx'
import { type Failure, readFailures, readUnclaimed, type Unclaimed } from './sourceLists.ts'
import './sources.css'
import { UnclaimedList } from './unclaimed/UnclaimedList.tsx'

const parent = { href: '/sources', label: text.sources.title }

const About = ({ source }: { source: Source }) => (
  <Card title={later.sources.arrivals}>
    <Facts
      facts={[
        [later.sources.lastReceived, <LastReceived key="last" source={source} />],
        [later.sources.provider, later.providers[source.provider].name],
        [later.sources.newDevices, later.sources.newDevicesChoices[source.newDevices]],
        [later.sources.keepRaw, source.keepRaw ? text.common.yes : text.common.no],
        [later.sources.created, <Time key="creation" value={source.creation} />],
        [later.sources.changed, <Time key="modified" value={source.lastModified} />],
      ]}
    />
  </Card>
)

const OneSource = ({ sourceId }: { sourceId: string }) => {
  const params = { sourceId }
  const readSource = async (signal: AbortSignal) =>
    (await call('GET /api/sources/{sourceId}', { params, signal })).source
  const [dropped, setDropped] = useState(0)
  const loadUnclaimed = async (cursor: string | null, signal: AbortSignal) => {
    const page = await readUnclaimed(sourceId, cursor, signal)
    setDropped(page.dropped)
    return page
  }
  const source = useResource(readSource, [sourceId])
  const unclaimed = usePages<Unclaimed>(loadUnclaimed, [sourceId])
  const failures = usePages<Failure>(
    (cursor, signal) => readFailures(sourceId, cursor, signal),
    [sourceId],
  )
  usePolling(async (signal) => {
    const now = await readSource(signal)
    source.set(() => now)
    // A list that the reader has scrolled through stays as it is.
    if (!unclaimed.hasMore) {
      const page = await loadUnclaimed(null, signal)
      if (page.nextCursor === null) unclaimed.set(() => page.items)
    }
    if (!failures.hasMore) {
      const page = await readFailures(sourceId, null, signal)
      if (page.nextCursor === null) failures.set(() => page.items)
    }
  })
  const reload = () => {
    source.reload()
    unclaimed.reload()
    failures.reload()
  }
  const { data } = source
  if (!data)
    return (
      <Page title={later.sources.source} parent={parent}>
        <Unloaded error={source.error} onRetry={source.reload} icon="source" />
      </Page>
    )
  return (
    <Page
      title={data.name}
      parent={parent}
      lead={<SourceState source={data} />}
      actions={<SourceActions source={data} onChange={(next) => source.set(() => next)} />}
    >
      <div class="columns">
        <About source={data} />
        <Card title={later.sources.inPortal(later.providers[data.provider].name)}>
          <PortalSteps provider={data.provider} />
          <AppSetup source={data} url={null} />
        </Card>
      </div>
      <UnclaimedList sourceId={sourceId} pages={unclaimed} dropped={dropped} onReload={reload} />
      <Failures source={data} pages={failures} onReload={reload} />
      <WhoChanged id={sourceId} />
    </Page>
  )
}

export default ({ params: { sourceId = '' } }: PageProps) => (
  <OneSource key={sourceId} sourceId={sourceId} />
)
