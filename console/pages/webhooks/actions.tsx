import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Webhook } from '../../api/types.ts'
import { formatDateTime } from '../../format/time.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { DeleteButton } from '../../ui/dialog/DeleteButton.tsx'
import { Confirm } from '../../ui/dialog/Dialog.tsx'
import { ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { Refusal } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { reportDelivery } from './Deliveries.tsx'

interface ActionProps {
  webhook: Webhook
}

const paramsOf = ({ id }: Webhook) => ({ webhookId: id })

export const Rotate = ({ webhook }: ActionProps) => {
  const [isAsking, setIsAsking] = useState(false)
  const [made, setMade] = useState<{ secret: string | null; previousUntil: string } | null>(null)
  const rotate = useAction(async () => {
    setMade(await call('POST /api/webhooks/{webhookId}/rotate', { params: paramsOf(webhook) }))
    setIsAsking(false)
  })
  return (
    <>
      <Button icon="key" onClick={() => setIsAsking(true)}>
        {text.webhooks.rotate}
      </Button>
      {isAsking && (
        <Confirm
          title={text.webhooks.rotateTitle}
          confirmLabel={text.webhooks.rotate}
          onConfirm={() => rotate.run()}
          onClose={() => setIsAsking(false)}
          isPending={rotate.isPending}
          error={rotate.error}
        >
          <p>{text.webhooks.rotateQuestion}</p>
        </Confirm>
      )}
      {made && (
        <ShownOnce
          title={text.webhooks.secretTitle}
          label={text.webhooks.secret}
          value={made.secret}
          onClose={() => setMade(null)}
        >
          <p class="hint">{text.webhooks.previousUntil(formatDateTime(made.previousUntil))}</p>
        </ShownOnce>
      )}
    </>
  )
}

export const Test = ({ webhook, onDone }: ActionProps & { onDone: () => void }) => {
  const test = useAction(async () => {
    const { delivery } = await call('POST /api/webhooks/{webhookId}/test', {
      params: paramsOf(webhook),
    })
    reportDelivery(delivery)
    onDone()
  })
  return (
    <>
      <Button icon="play" isPending={test.isPending} onClick={() => test.run()}>
        {text.webhooks.test}
      </Button>
      {test.error && <Refusal error={test.error} />}
    </>
  )
}

export const Enable = ({ webhook, onDone }: ActionProps & { onDone: (next: Webhook) => void }) => {
  const set = useAction(async () => {
    const { webhook: next } = await call('PATCH /api/webhooks/{webhookId}', {
      params: paramsOf(webhook),
      body: { enabled: !webhook.enabled },
    })
    onDone(next)
    toast(next.enabled ? text.webhooks.enabledToast : text.webhooks.disabledToast)
  })
  const icon = webhook.enabled ? 'pause' : 'check'
  return (
    <>
      <Button icon={icon} isPending={set.isPending} onClick={() => set.run()}>
        {webhook.enabled ? text.webhooks.disable : text.webhooks.enable}
      </Button>
      {set.error && <Refusal error={set.error} />}
    </>
  )
}

export const Delete = ({ webhook }: ActionProps) => (
  <DeleteButton
    title={text.webhooks.deleteTitle}
    confirmLabel={text.webhooks.deleteConfirm}
    question={text.webhooks.deleteQuestion(webhook.url)}
    name={new URL(webhook.url).host}
    onDelete={() => call('DELETE /api/webhooks/{webhookId}', { params: paramsOf(webhook) })}
    deleted={text.webhooks.deleted}
    href="/webhooks"
  />
)
