import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { Webhook } from '../../api/types.ts'
import { formatDateTime } from '../../format/time.ts'
import { later } from '../../text/later.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { ConfirmButton, DeleteButton } from '../../ui/dialog/ConfirmButton.tsx'
import { ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { toast } from '../../ui/toast.tsx'
import { reportDelivery } from './Deliveries.tsx'

interface ActionProps {
  webhook: Webhook
}

const paramsOf = ({ id }: Webhook) => ({ webhookId: id })

export const Rotate = ({ webhook }: ActionProps) => {
  const [made, setMade] = useState<{ secret: string | null; previousUntil: string } | null>(null)
  return (
    <>
      <ConfirmButton
        icon="key"
        label={later.webhooks.rotate}
        title={later.webhooks.rotateTitle}
        question={later.webhooks.rotateQuestion}
        confirmLabel={later.webhooks.rotate}
        onConfirm={async () =>
          setMade(
            await call('POST /api/webhooks/{webhookId}/rotate', { params: paramsOf(webhook) }),
          )
        }
      />
      {made && (
        <ShownOnce
          title={later.webhooks.secretTitle}
          label={later.webhooks.secret}
          value={made.secret}
          onClose={() => setMade(null)}
        >
          <p class="hint">{later.webhooks.previousUntil(formatDateTime(made.previousUntil))}</p>
        </ShownOnce>
      )}
    </>
  )
}

export const Test = ({ webhook, onDone }: ActionProps & { onDone: () => void }) => (
  <ActionButton
    icon="play"
    onAct={async () => {
      const params = paramsOf(webhook)
      reportDelivery((await call('POST /api/webhooks/{webhookId}/test', { params })).delivery)
      onDone()
    }}
  >
    {later.webhooks.test}
  </ActionButton>
)

export const Enable = ({ webhook, onDone }: ActionProps & { onDone: (next: Webhook) => void }) => (
  <ActionButton
    icon={webhook.enabled ? 'pause' : 'check'}
    onAct={async () => {
      const { webhook: next } = await call('PATCH /api/webhooks/{webhookId}', {
        params: paramsOf(webhook),
        body: { enabled: !webhook.enabled },
      })
      onDone(next)
      toast(next.enabled ? later.webhooks.enabledToast : later.webhooks.disabledToast)
    }}
  >
    {webhook.enabled ? later.webhooks.disable : later.webhooks.enable}
  </ActionButton>
)

export const Delete = ({ webhook }: ActionProps) => (
  <DeleteButton
    title={later.webhooks.deleteTitle}
    confirmLabel={later.webhooks.deleteConfirm}
    question={later.webhooks.deleteQuestion(webhook.url)}
    name={new URL(webhook.url).host}
    onDelete={() => call('DELETE /api/webhooks/{webhookId}', { params: paramsOf(webhook) })}
    deleted={later.webhooks.deleted}
    href="/webhooks"
  />
)
