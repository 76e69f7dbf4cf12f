import { useMemo } from 'preact/hooks'
import { loadAccount } from '../../api/account.ts'
import { call } from '../../api/client.ts'
import { emergencySettings } from '../../api/emergency.ts'
import { useAction, useResource } from '../../api/resource.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { Page } from '../../ui/Page.tsx'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { DeviceForm } from './DeviceForm.tsx'
import { bodyOf, type DeviceDraft, emptyDraft } from './deviceForm.ts'

const Creator = ({ hasReserve }: { hasReserve: boolean }) => {
  const initial = useMemo(() => emptyDraft(hasReserve), [hasReserve])
  const create = useAction(async (draft: DeviceDraft) => {
    const { device } = await call('POST /api/devices', { body: bodyOf(draft) })
    setLeaveGuard(null)
    toast(text.devices.createdToast(device.name))
    navigate(`/devices/${device.id}`, { replace: true })
  })
  return (
    <DeviceForm
      initial={initial}
      submitLabel={text.devices.createSubmit}
      cancelHref="/devices"
      isPending={create.isPending}
      error={create.error}
      onSubmit={create.run}
    />
  )
}

export default () => {
  const { data, error, reload } = useResource(
    async () => ({ hasReserve: emergencySettings(await loadAccount()) !== null }),
    [],
  )
  return (
    <Page title={text.devices.newTitle} parent={{ href: '/devices', label: text.devices.title }}>
      {data && <Creator hasReserve={data.hasReserve} />}
      {!data && (error ? <Failed error={error} onRetry={reload} /> : <Skeleton />)}
    </Page>
  )
}
