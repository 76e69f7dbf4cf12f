import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { Watch } from '../../api/types.ts'
import type { PageProps } from '../../app/routes.ts'
import { navigate, place } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Page } from '../../ui/Page.tsx'
import { Unloaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { WatchForm } from './WatchForm.tsx'

const list = { href: '/watches', label: text.watches.title }

const NewWatch = () => (
  <Page title={later.watches.add} parent={list}>
    <WatchForm
      watch={null}
      deviceId={place.value.query.get('device')}
      onStored={({ id }) => {
        toast(later.watches.started)
        navigate(`/watches/${id}`)
      }}
    />
  </Page>
)

const EditWatch = ({ watchId }: { watchId: string }) => {
  const { data, error, reload } = useResource<Watch>(
    async (signal) =>
      (await call('GET /api/watches/{watchId}', { params: { watchId }, signal })).watch,
    [watchId],
  )
  if (!data)
    return (
      <Page title={later.watches.watch} parent={list}>
        <Unloaded error={error} onRetry={reload} icon="clock" />
      </Page>
    )
  return (
    <Page
      title={later.watches.editTitle(data.name)}
      parent={{ href: `/watches/${watchId}`, label: data.name }}
    >
      <WatchForm
        watch={data}
        deviceId={data.deviceId}
        onStored={({ id }) => {
          toast(text.common.saved)
          navigate(`/watches/${id}`)
        }}
      />
    </Page>
  )
}

export default ({ params: { watchId } }: PageProps) =>
  watchId === undefined ? <NewWatch /> : <EditWatch key={watchId} watchId={watchId} />
