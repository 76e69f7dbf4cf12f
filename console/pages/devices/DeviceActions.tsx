import { useState } from 'preact/hooks'
import { accountDay } from '../../api/account.ts'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Device } from '../../api/types.ts'
import { navigate } from '../../router/router.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { Confirm, Dialog } from '../../ui/dialog/Dialog.tsx'
import { Choices } from '../../ui/form/Choices.tsx'
import { TextField } from '../../ui/form/fields.tsx'
import { toast } from '../../ui/toast.tsx'
import { LicenseRefusal } from './LicenseRefusal.tsx'

interface DialogProps {
  device: Device
  onClose: () => void
  onChange: (device: Device) => void
}

const ENDS = [
  { value: 'none', label: text.devices.reactivateForever },
  { value: 'date', label: text.devices.reactivateUntil },
] as const

const Reactivate = ({ device, onClose, onChange }: DialogProps) => {
  const [end, setEnd] = useState<'none' | 'date'>('none')
  const [expirationDate, setExpirationDate] = useState('')
  const reactivate = useAction(async () => {
    const reply = await call('POST /api/devices/{deviceId}/reactivate', {
      params: { deviceId: device.id },
      body: { expirationDate: end === 'date' ? expirationDate : null },
    })
    toast(text.devices.reactivated(device.name))
    onChange(reply.device)
    onClose()
  })
  return (
    <Dialog
      title={text.devices.reactivateTitle(device.name)}
      onClose={onClose}
      onSubmit={() => void reactivate.run()}
      actions={
        <>
          <Button onClick={onClose}>{text.common.cancel}</Button>
          <Button type="submit" kind="primary" isPending={reactivate.isPending}>
            {text.devices.reactivate}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>{text.devices.reactivateText}</p>
        <Choices label={text.devices.reactivateEnd} value={end} choices={ENDS} onChange={setEnd} />
        {end === 'date' && (
          <TextField
            label={text.devices.expirationDate}
            type="date"
            value={expirationDate}
            onInput={setExpirationDate}
            pointer="/expirationDate"
            error={reactivate.error}
          />
        )}
        {reactivate.error && <LicenseRefusal error={reactivate.error} />}
      </div>
    </Dialog>
  )
}

const Expire = ({ device, onClose, onChange }: DialogProps) => {
  const expire = useAction(async () => {
    const expirationDate = accountDay(session.me.value?.account.timeZone ?? 'UTC')
    const reply = await call('PATCH /api/devices/{deviceId}', {
      params: { deviceId: device.id },
      body: { limits: { expires: true, expirationDate } },
    })
    toast(text.devices.expiredToast(device.name))
    onChange(reply.device)
    onClose()
  })
  return (
    <Confirm
      title={text.devices.expireTitle(device.name)}
      confirmLabel={text.devices.expireConfirm}
      onClose={onClose}
      onConfirm={() => void expire.run()}
      isPending={expire.isPending}
      error={expire.error}
    >
      <p>{text.devices.expireText}</p>
    </Confirm>
  )
}

const Delete = ({ device, onClose }: DialogProps) => {
  const remove = useAction(async () => {
    await call('DELETE /api/devices/{deviceId}', { params: { deviceId: device.id } })
    toast(text.devices.deletedToast(device.name))
    navigate('/devices', { replace: true })
  })
  return (
    <Confirm
      title={text.devices.deleteTitle(device.name)}
      confirmLabel={text.devices.deleteConfirm}
      onClose={onClose}
      onConfirm={() => void remove.run()}
      isPending={remove.isPending}
      error={remove.error}
      name={device.name}
    >
      <p>{text.devices.deleteText}</p>
    </Confirm>
  )
}

const DIALOGS = { reactivate: Reactivate, expire: Expire, delete: Delete }

/** The buttons of a device's page. */
export const DeviceActions = ({ device, onChange }: Omit<DialogProps, 'onClose'>) => {
  const [open, setOpen] = useState<keyof typeof DIALOGS | null>(null)
  const Opened = open && DIALOGS[open]
  return (
    <>
      <LinkButton icon="map" href={`/map/${device.id}`}>
        {text.devices.showOnMap}
      </LinkButton>
      {session.can('write') && (
        <>
          <LinkButton icon="edit" href={`/devices/${device.id}/edit`}>
            {text.common.edit}
          </LinkButton>
          {device.state === 'expired' ? (
            <Button kind="primary" icon="refresh" onClick={() => setOpen('reactivate')}>
              {text.devices.reactivate}
            </Button>
          ) : (
            <Button icon="clock" onClick={() => setOpen('expire')}>
              {text.devices.expire}
            </Button>
          )}
          <Button icon="trash" onClick={() => setOpen('delete')}>
            {text.devices.delete}
          </Button>
        </>
      )}
      {Opened && <Opened device={device} onChange={onChange} onClose={() => setOpen(null)} />}
    </>
  )
}
