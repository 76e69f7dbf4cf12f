import { useState } from 'preact/hooks'
import { call } from '../../../api/client.ts'
import { readSources } from '../../../api/people.ts'
import { useAction, useResource } from '../../../api/resource.ts'
import type { Device, Source } from '../../../api/types.ts'
import { later } from '../../../text/later.ts'
import { Button } from '../../../ui/Button.tsx'
import { FormDialog } from '../../../ui/dialog/Dialog.tsx'
import { SelectField } from '../../../ui/form/fields.tsx'
import { Failed } from '../../../ui/states.tsx'
import { toast } from '../../../ui/toast.tsx'

interface Channel {
  sourceId: string | null
  sources: Source[]
}

interface ChooseProps extends Channel {
  device: Device
  onDone: (sourceId: string | null) => void
  onClose: () => void
}

const ChooseSource = ({ device, sourceId, sources, onDone, onClose }: ChooseProps) => {
  const [chosen, setChosen] = useState(sourceId ?? '')
  const save = useAction(async () => {
    const reply = await call('PUT /api/devices/{deviceId}/commandChannel', {
      params: { deviceId: device.id },
      body: { sourceId: chosen || null },
    })
    toast(later.conversation.channel.saved)
    onDone(reply.sourceId)
  })
  const isDeleted = sourceId !== null && !sources.some(({ id }) => id === sourceId)
  return (
    <FormDialog
      title={later.conversation.channel.title(device.name)}
      submitLabel={later.conversation.channel.save}
      action={save}
      canSubmit={chosen !== (sourceId ?? '')}
      onClose={onClose}
    >
      <p>{later.conversation.channel.lead}</p>
      <SelectField
        label={later.conversation.channel.source}
        value={chosen}
        choices={[
          { value: '', label: later.conversation.channel.next },
          ...(isDeleted ? [{ value: sourceId, label: later.conversation.channel.deleted }] : []),
          ...sources.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={setChosen}
        pointer="/sourceId"
        error={save.error}
      />
    </FormDialog>
  )
}

/** Which source takes the commands to a device. Only administrators see sources. */
export const CommandChannel = ({ device }: { device: Device }) => {
  const [isChoosing, setIsChoosing] = useState(false)
  const { data, error, reload, set } = useResource(
    async (signal): Promise<Channel> => {
      const params = { deviceId: device.id }
      const [{ sourceId }, sources] = await Promise.all([
        call('GET /api/devices/{deviceId}/commandChannel', { params, signal }),
        readSources(signal),
      ])
      return { sourceId, sources }
    },
    // The first report by a source makes it the one.
    [device.id, device.lastContact],
  )
  if (error && !data) return <Failed error={error} onRetry={reload} />
  if (!data) return null
  const { sourceId, sources } = data
  const source = sources.find(({ id }) => id === sourceId)
  return (
    <div class="command-channel">
      <span>
        {later.conversation.channel.label}{' '}
        {source ? (
          <a href={`/sources/${source.id}`}>{source.name}</a>
        ) : (
          <span class="muted">
            {later.conversation.channel[sourceId === null ? 'none' : 'deleted']}
          </span>
        )}
      </span>
      {sources.length > 0 && (
        <Button size="small" onClick={() => setIsChoosing(true)}>
          {later.conversation.channel.change}
        </Button>
      )}
      {isChoosing && (
        <ChooseSource
          device={device}
          {...data}
          onDone={(next) => {
            set((before) => ({ ...before, sourceId: next }))
            setIsChoosing(false)
          }}
          onClose={() => setIsChoosing(false)}
        />
      )}
    </div>
  )
}
