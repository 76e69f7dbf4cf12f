import { useState } from 'preact/hooks'
import { call } from '../../../api/client.ts'
import { useAction, useResource } from '../../../api/resource.ts'
import type { ClaimIdentifierReply } from '../../../api/types.ts'
import { later } from '../../../text/later.ts'
import { FormDialog } from '../../../ui/dialog/Dialog.tsx'
import { Choices } from '../../../ui/form/Choices.tsx'
import { DevicePicker } from '../../../ui/form/DevicePicker.tsx'
import { bindFields, useDraft } from '../../../ui/form/draft.ts'
import { choicesOf, TextField } from '../../../ui/form/fields.tsx'
import { LicenseRefusal } from '../../devices/LicenseRefusal.tsx'

interface ClaimDialogProps {
  sourceId: string
  identifier: string
  onClose: () => void
  onClaimed: (reply: ClaimIdentifierReply) => void
}

type Way = 'new' | 'existing'
const WAYS = choicesOf(['new', 'existing'], later.unclaimed.claimChoices)

/** Says that an existing device loses the identifier that it has. */
const Replaced = ({ deviceId, identifier }: { deviceId: string; identifier: string }) => {
  const { data } = useResource(
    async (signal) =>
      (await call('GET /api/devices/{deviceId}', { params: { deviceId }, signal })).device,
    [deviceId],
  )
  if (!data?.identifier || data.identifier === identifier) return null
  return <p class="note">{later.unclaimed.replaces(data.name, data.identifier)}</p>
}

/** Gives an identifier to a new or an existing device. */
export const ClaimDialog = ({ sourceId, identifier, onClose, onClaimed }: ClaimDialogProps) => {
  const [way, setWay] = useState<Way>('new')
  const [deviceId, setDeviceId] = useState<string | null>(null)
  const device = useDraft({ name: '', model: '' })
  const claim = useAction(async () => {
    const body = way === 'new' ? { device: device.draft } : { deviceId: deviceId ?? '' }
    const reply = await call('POST /api/sources/{sourceId}/unclaimed/{identifier}/claim', {
      params: { sourceId, identifier },
      body,
    })
    device.markSaved()
    onClaimed(reply)
  })
  const { error } = claim
  const bind = bindFields({ ...device, error, under: '/device' })
  const isReady = way === 'new' ? device.draft.name.trim() !== '' : deviceId !== null
  return (
    <FormDialog
      title={later.unclaimed.claimTitle(identifier)}
      submitLabel={way === 'new' ? later.unclaimed.makeDevice : later.unclaimed.putOnDevice}
      action={claim}
      canSubmit={isReady}
      onClose={onClose}
      refusal={error && <LicenseRefusal error={error} />}
    >
      <Choices
        label={later.unclaimed.claimHow}
        value={way}
        choices={WAYS}
        onChange={(value) => {
          claim.clear()
          setWay(value)
        }}
      />
      {way === 'new' ? (
        <>
          <TextField
            label={later.unclaimed.deviceName}
            {...bind.text('name')}
            maxLength={200}
            required
            autofocus
          />
          <TextField label={later.unclaimed.model} {...bind.text('model')} isOptional />
        </>
      ) : (
        <>
          <DevicePicker
            label={later.unclaimed.device}
            values={deviceId === null ? [] : [deviceId]}
            onChange={([id]) => setDeviceId(id ?? null)}
            maxCount={1}
            pointer="/deviceId"
            error={error}
          />
          {deviceId && <Replaced deviceId={deviceId} identifier={identifier} />}
        </>
      )}
      <p class="hint">
        {way === 'new' ? later.unclaimed.makeHint : later.unclaimed.putHint} {later.unclaimed.late}
      </p>
    </FormDialog>
  )
}
