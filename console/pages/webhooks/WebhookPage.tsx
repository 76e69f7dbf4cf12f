import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useResource } from '../../api/resource.ts'
import type { Webhook } from '../../api/types.ts'
import type { PageProps } from '../../app/routes.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { WhoChanged } from '../../ui/audit/WhoChanged.tsx'
import { ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { Page } from '../../ui/Page.tsx'
import { Unloaded } from '../../ui/states.tsx'
import { Delete, Enable, Rotate, Test } from './actions.tsx'
import { Deliveries } from './Deliveries.tsx'
import { WebhookForm } from './WebhookForm.tsx'
import { WebhookState } from './WebhooksPage.tsx'

const parent = { href: '/webhooks', label: text.webhooks.title }
const PAGE_SIZE = 50

const NewWebhook = () => {
  const [made, setMade] = useState<{ webhook: Webhook; secret: string | null } | null>(null)
  return (
    <Page title={later.webhooks.add} parent={parent}>
      <WebhookForm webhook={null} onSaved={(webhook, secret) => setMade({ webhook, secret })} />
      {made && (
        <ShownOnce
          title={later.webhooks.secretTitle}
          label={later.webhooks.secret}
          value={made.secret}
          onClose={() => {
            setLeaveGuard(null)
            navigate(`/webhooks/${made.webhook.id}`)
          }}
        >
          <p class="hint">{later.webhooks.secretHint}</p>
        </ShownOnce>
      )}
    </Page>
  )
}

const OneWebhook = ({ webhookId }: { webhookId: string }) => {
  const { data, error, reload, set } = useResource(
    async (signal) =>
      (await call('GET /api/webhooks/{webhookId}', { params: { webhookId }, signal })).webhook,
    [webhookId],
  )
  const deliveries = useList('GET /api/webhooks/{webhookId}/deliveries', 'deliveries', {
    params: { webhookId },
    query: { limit: PAGE_SIZE },
  })
  if (!data)
    return (
      <Page title={later.webhooks.webhook} parent={parent}>
        <Unloaded error={error} onRetry={reload} icon="webhook" />
      </Page>
    )
  const replace = (webhook: Webhook) => set(() => webhook)
  return (
    <Page
      title={new URL(data.url).host}
      parent={parent}
      lead={<WebhookState webhook={data} />}
      actions={
        <>
          <Test webhook={data} onDone={deliveries.reload} />
          <Rotate webhook={data} />
          <Enable webhook={data} onDone={replace} />
          <Delete webhook={data} />
        </>
      }
    >
      <WebhookForm key={data.id} webhook={data} onSaved={replace} />
      <Deliveries webhookId={webhookId} pages={deliveries} />
      <WhoChanged id={webhookId} />
    </Page>
  )
}

export default ({ params: { webhookId = '' } }: PageProps) =>
  webhookId === 'new' ? <NewWebhook /> : <OneWebhook key={webhookId} webhookId={webhookId} />
