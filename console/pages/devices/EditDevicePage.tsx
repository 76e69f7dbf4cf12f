import { useMemo } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { Device } from '../../api/types.ts'
import type { PageProps } from '../../app/routes.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { Page } from '../../ui/Page.tsx'
import { NotLoaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { DeviceForm } from './DeviceForm.tsx'
import { type DeviceDraft, draftOf, patchOf } from './deviceFormState.ts'

const Editor = ({ device }: { device: Device }) => {
  const href = `/devices/${device.id}`
  const initial = useMemo(() => draftOf(device), [device])
  const save = async (draft: DeviceDraft) => {
    const body = patchOf(initial, draft)
    if (Object.keys(body).length > 0)
      await call('PATCH /api/devices/{deviceId}', { params: { deviceId: device.id }, body })
    setLeaveGuard(null)
    toast(text.devices.savedToast)
    navigate(href, { replace: true })
  }
  return (
    <DeviceForm initial={initial} submitLabel={text.common.save} cancelHref={href} save={save} />
  )
}

export default ({ params: { deviceId = '' } }: PageProps) => {
  const device = useResource(
    async (signal) =>
      (await call('GET /api/devices/{deviceId}', { params: { deviceId }, signal })).device,
    [deviceId],
  )
  const { data } = device
  return (
    <Page
      title={text.devices.editTitle(data?.name ?? '')}
      parent={{ href: `/devices/${deviceId}`, label: data?.name ?? text.devices.title }}
    >
      {data ? <Editor device={data} /> : <NotLoaded of={device} />}
    </Page>
  )
}
