import { wholeTargets } from '../../api/changes.ts'
import { call } from '../../api/client.ts'
import { readGroups } from '../../api/people.ts'
import { useAction, useResource } from '../../api/resource.ts'
import { saveChanges } from '../../api/saveChanges.ts'
import type { Webhook } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { DevicePicker } from '../../ui/form/DevicePicker.tsx'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { FieldError, SeveralField } from '../../ui/form/fieldGroups.tsx'
import { TextField } from '../../ui/form/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { toast } from '../../ui/toast.tsx'
import { EventChoice } from './EventChoice.tsx'
import { FormatFields, type Settings } from './FormatFields.tsx'

const MAX_IDS = 100

const bodyOf = (webhook: Webhook | null) => ({
  url: webhook?.url ?? '',
  description: webhook?.description ?? '',
  events: webhook?.events ?? ['*'],
  devices: webhook?.devices ?? [],
  groups: webhook?.groups ?? [],
  format: webhook?.format ?? 'json',
  settings: (webhook?.settings ?? {}) as Settings,
})

interface WebhookFormProps {
  webhook: Webhook | null
  onSaved: (webhook: Webhook, secret: string | null) => void
}

export const WebhookForm = ({ webhook, onSaved }: WebhookFormProps) => {
  const { draft, change, stored, markSaved } = useDraft(() => bodyOf(webhook))
  const groups = useResource(readGroups, [])
  const save = useAction(async () => {
    if (webhook) {
      const reply = await saveChanges('/api/webhooks/{webhookId}', {
        params: { webhookId: webhook.id },
        before: stored,
        after: draft,
        read: ({ webhook: current }) => bodyOf(current),
        whole: (current) => [
          ...wholeTargets(stored, draft, current),
          ...(draft.format === stored.format ? [] : ['settings']),
        ],
      })
      toast(text.common.saved)
      // The token is write-only: it leaves the page once it is stored.
      const { settings } = bodyOf(reply.webhook)
      markSaved({ ...draft, settings })
      change({ settings })
      onSaved(reply.webhook, null)
    } else {
      const reply = await call('POST /api/webhooks', { body: draft })
      markSaved()
      onSaved(reply.webhook, reply.secret)
    }
  })
  const { error } = save
  const bind = bindFields({ draft, change, error })
  return (
    <Form
      submitLabel={webhook ? text.common.save : later.webhooks.create}
      cancelHref="/webhooks"
      action={save}
    >
      <div class="columns">
        <Card title={later.webhooks.receiver}>
          <div class="stack">
            <TextField
              label={later.webhooks.url}
              hint={later.webhooks.urlHint}
              type="url"
              {...bind.text('url')}
              placeholder="https://example.com/perigee"
              required
            />
            <TextField
              label={later.webhooks.description}
              {...bind.text('description')}
              maxLength={2000}
              isOptional
            />
            <FormatFields draft={draft} change={change} error={error} isStored={webhook !== null} />
            <EventChoice events={draft.events} onChange={(events) => change({ events })} />
            <FieldError label={later.webhooks.events} pointer="/events" error={error} />
          </div>
        </Card>
        <Card title={later.webhooks.onlyThese}>
          <div class="stack">
            <p class="hint">{later.webhooks.onlyTheseHint}</p>
            {groups.data && groups.data.length > 0 && (
              <SeveralField
                label={later.webhooks.groups}
                options={groups.data.map(({ id, name }) => ({ value: id, label: name }))}
                {...bind.several('groups')}
              />
            )}
            <DevicePicker
              label={later.webhooks.devices}
              maxCount={MAX_IDS}
              {...bind.several('devices')}
            />
          </div>
        </Card>
      </div>
    </Form>
  )
}
