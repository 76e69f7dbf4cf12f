import { call } from '../../api/client.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { Page } from '../../ui/Page.tsx'
import { toast } from '../../ui/toast.tsx'
import { DeviceForm } from './DeviceForm.tsx'
import { bodyOf, type DeviceDraft, EMPTY_DRAFT } from './deviceFormState.ts'

const create = async (draft: DeviceDraft) => {
  const { device } = await call('POST /api/devices', { body: bodyOf(draft) })
  setLeaveGuard(null)
  toast(text.devices.createdToast(device.name))
  navigate(`/devices/${device.id}`, { replace: true })
}

export default () => (
  <Page title={text.devices.newTitle} parent={{ href: '/devices', label: text.devices.title }}>
    <DeviceForm
      initial={EMPTY_DRAFT}
      submitLabel={text.devices.createSubmit}
      cancelHref="/devices"
      save={create}
    />
  </Page>
)
