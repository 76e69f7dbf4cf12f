import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { PageProps } from '../../app/routes.ts'
import { navigate } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Page } from '../../ui/Page.tsx'
import { Unloaded } from '../../ui/states.tsx'
import { SourceForm } from './SourceForm.tsx'

export default ({ params: { sourceId = '' } }: PageProps) => {
  const { data, error, reload } = useResource(
    async (signal) =>
      (await call('GET /api/sources/{sourceId}', { params: { sourceId }, signal })).source,
    [sourceId],
  )
  const href = `/sources/${sourceId}`
  return (
    <Page
      title={later.sources.editTitle(data?.name ?? '')}
      parent={{ href, label: data?.name ?? text.sources.title }}
    >
      {data ? (
        <SourceForm source={data} onSaved={() => navigate(href, { replace: true })} />
      ) : (
        <Unloaded error={error} onRetry={reload} icon="source" />
      )}
    </Page>
  )
}
