import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Device } from '../../api/types.ts'
import { dayIn } from '../../format/time.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { ConfirmButton, DeleteButton } from '../../ui/dialog/ConfirmButton.tsx'
import { FormDialog } from '../../ui/dialog/Dialog.tsx'
import { Choices } from '../../ui/form/Choices.tsx'
import { TextField } from '../../ui/form/fields.tsx'
import { toast } from '../../ui/toast.tsx'
import { DrillButton } from './Drill.tsx'
import { LicenseRefusal } from './LicenseRefusal.tsx'

interface ActionProps {
  device: Device
  onChange: (device: Device) => void
}

const ENDS = [
  { value: 'none', label: text.devices.reactivateForever },
  { value: 'date', label: text.devices.reactivateUntil },
] as const

const Reactivate = ({ device, onChange, onClose }: ActionProps & { onClose: () => void }) => {
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
  const { error } = reactivate
  return (
    <FormDialog
      title={text.devices.reactivateTitle(device.name)}
      submitLabel={text.devices.reactivate}
      action={reactivate}
      onClose={onClose}
      refusal={error && <LicenseRefusal error={error} />}
    >
      <p>{text.devices.reactivateText}</p>
      <Choices label={text.devices.reactivateEnd} value={end} choices={ENDS} onChange={setEnd} />
      {end === 'date' && (
        <TextField
          label={text.devices.expirationDate}
          type="date"
          value={expirationDate}
          onInput={setExpirationDate}
          pointer="/expirationDate"
          error={error}
        />
      )}
    </FormDialog>
  )
}

const Expire = ({ device, onChange }: ActionProps) => (
  <ConfirmButton
    icon="clock"
    label={text.devices.expire}
    title={text.devices.expireTitle(device.name)}
    question={text.devices.expireText}
    confirmLabel={text.devices.expireConfirm}
    onConfirm={async () => {
      const expirationDate = dayIn(session.me.value?.account.timeZone ?? 'UTC')
      const reply = await call('PATCH /api/devices/{deviceId}', {
        params: { deviceId: device.id },
        body: { limits: { expires: true, expirationDate } },
      })
      toast(text.devices.expiredToast(device.name))
      onChange(reply.device)
    }}
  />
)

const Delete = ({ device: { id, name } }: Pick<ActionProps, 'device'>) => (
  <DeleteButton
    title={text.devices.deleteTitle(name)}
    question={text.devices.deleteText}
    confirmLabel={text.devices.deleteConfirm}
    name={name}
    onDelete={() => call('DELETE /api/devices/{deviceId}', { params: { deviceId: id } })}
    deleted={text.devices.deletedToast(name)}
    href="/devices"
  />
)

/** The buttons of a device's page. */
export const DeviceActions = ({ device, onChange }: ActionProps) => {
  const [isReactivating, setIsReactivating] = useState(false)
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
            <Button kind="primary" icon="refresh" onClick={() => setIsReactivating(true)}>
              {text.devices.reactivate}
            </Button>
          ) : (
            <>
              <DrillButton device={device} />
              <Expire device={device} onChange={onChange} />
            </>
          )}
          <Delete device={device} />
        </>
      )}
      {isReactivating && (
        <Reactivate device={device} onChange={onChange} onClose={() => setIsReactivating(false)} />
      )}
    </>
  )
}
