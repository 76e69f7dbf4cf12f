import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { isAdmin, readUsers } from '../../api/people.ts'
import { useAction, useResource } from '../../api/resource.ts'
import type { Account, Device, User } from '../../api/types.ts'
import { navigate } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/dialog/Dialog.tsx'
import { Failed, Pending } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { type Receiver, receiversOf } from './drillReceivers.ts'

interface Chain {
  account: Account
  /** Null when the viewer may not see the users. */
  users: User[] | null
}

const loadChain = async (signal: AbortSignal): Promise<Chain> => {
  const [{ account }, users] = await Promise.all([
    call('GET /api/account', { signal }),
    isAdmin() ? readUsers(signal) : null,
  ])
  return { account, users }
}

const Receivers = ({ title, receivers }: { title: string; receivers: Receiver[] }) => (
  <div>
    <h3>{title}</h3>
    {receivers.length === 0 ? (
      <p class="warn-text">{later.drill.nobody}</p>
    ) : (
      <ul class="drill-receivers">
        {receivers.map(({ key, name, channels }) => (
          <li key={key}>
            <b>{name}</b>{' '}
            <span class="muted">
              {channels.map((channel) => text.messages.channels[channel]).join(', ')}
            </span>
          </li>
        ))}
      </ul>
    )}
  </div>
)

const DrillDialog = ({ device, onClose }: { device: Device; onClose: () => void }) => {
  const { data, error, reload } = useResource(loadChain, [])
  const start = useAction(async () => {
    const alertName = data?.account.emergencyAlerts[0] ?? 'SOSButton'
    const reply = await call('POST /api/devices/{deviceId}/alerts', {
      params: { deviceId: device.id },
      body: { alertName, test: true },
    })
    toast(later.drill.started)
    // A query of alerts, which this is not, has another reply.
    if ('alert' in reply) navigate(`/alerts/${reply.alert.id}`)
  })
  const { users, contacts } = data
    ? receiversOf(device, data.account, data.users)
    : { users: null, contacts: [] }
  return (
    <FormDialog
      title={later.drill.title(device.name)}
      submitLabel={later.drill.start}
      action={start}
      canSubmit={data !== undefined}
      onClose={onClose}
    >
      <p>{later.drill.explanation}</p>
      {error && !data && <Failed error={error} onRetry={reload} />}
      {!error && !data && <Pending />}
      {data && (
        <>
          {users ? (
            <Receivers title={later.drill.first} receivers={users} />
          ) : (
            <p>{later.drill.unseen}</p>
          )}
          <Receivers title={later.drill.later(data.account.escalation)} receivers={contacts} />
        </>
      )}
      <p class="hint">{later.drill.limit}</p>
    </FormDialog>
  )
}

/** Runs the whole chain of an emergency, and says first who gets messages. */
export const DrillButton = ({ device }: { device: Device }) => {
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <Button icon="alert" onClick={() => setIsAsking(true)}>
        {later.drill.run}
      </Button>
      {isAsking && <DrillDialog device={device} onClose={() => setIsAsking(false)} />}
    </>
  )
}
