import { useState } from 'preact/hooks'
import { changesOf } from '../../api/changes.ts'
import { call } from '../../api/client.ts'
import { readGroups } from '../../api/people.ts'
import { useAction, useResource } from '../../api/resource.ts'
import type { Webhook } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { DevicePicker } from '../../ui/DevicePicker.tsx'
import { CheckField, TextField } from '../../ui/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { Refusal } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useLeaveGuard } from '../../ui/useLeaveGuard.ts'
import { EventChoice } from './EventChoice.tsx'

const MAX_IDS = 100

const bodyOf = (webhook: Webhook | null) => ({
  url: webhook?.url ?? '',
  description: webhook?.description ?? '',
  events: webhook?.events ?? ['*'],
  devices: webhook?.devices ?? [],
  groups: webhook?.groups ?? [],
})
type Body = ReturnType<typeof bodyOf>

interface GroupChoiceProps {
  ids: readonly string[]
  onChange: (ids: string[]) => void
}

const GroupChoice = ({ ids, onChange }: GroupChoiceProps) => {
  const groups = useResource(readGroups, [])
  if (!groups.data || groups.data.length === 0) return null
  return (
    <fieldset class="checks">
      <legend>{text.webhooks.groups}</legend>
      {groups.data.map(({ id, name }) => (
        <CheckField
          key={id}
          label={name}
          isChecked={ids.includes(id)}
          onChange={(isOn) => onChange(isOn ? [...ids, id] : ids.filter((one) => one !== id))}
        />
      ))}
    </fieldset>
  )
}

interface WebhookFormProps {
  webhook: Webhook | null
  onSaved: (webhook: Webhook, secret: string | null) => void
}

export const WebhookForm = ({ webhook, onSaved }: WebhookFormProps) => {
  const [before, setBefore] = useState(() => bodyOf(webhook))
  const [body, setBody] = useState(before)
  useLeaveGuard(Object.keys(changesOf(before, body)).length > 0)
  const change = (changes: Partial<Body>) => setBody((given) => ({ ...given, ...changes }))
  const save = useAction(async () => {
    if (webhook) {
      const params = { webhookId: webhook.id }
      const sent = changesOf(before, body)
      const reply = await call('PATCH /api/webhooks/{webhookId}', { params, body: sent })
      toast(text.common.saved)
      setBefore(body)
      onSaved(reply.webhook, null)
    } else {
      const reply = await call('POST /api/webhooks', { body })
      setBefore(body)
      onSaved(reply.webhook, reply.secret)
    }
  })
  const { error } = save
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!save.isPending) void save.run()
      }}
    >
      <div class="columns">
        <Card title={text.webhooks.receiver}>
          <div class="stack">
            <TextField
              label={text.webhooks.url}
              hint={text.webhooks.urlHint}
              type="url"
              value={body.url}
              onInput={(url) => change({ url })}
              pointer="/url"
              error={error}
              placeholder="https://example.com/perigee"
              required
            />
            <TextField
              label={text.webhooks.description}
              value={body.description}
              onInput={(description) => change({ description })}
              pointer="/description"
              error={error}
              maxLength={2000}
              isOptional
            />
            <EventChoice events={body.events} onChange={(events) => change({ events })} />
            {error?.errorAt('/events') && (
              <p class="field-error">
                {text.webhooks.events} {error.errorAt('/events')}
              </p>
            )}
          </div>
        </Card>
        <Card title={text.webhooks.onlyThese}>
          <div class="stack">
            <p class="hint">{text.webhooks.onlyTheseHint}</p>
            <GroupChoice ids={body.groups} onChange={(groups) => change({ groups })} />
            <DevicePicker
              label={text.webhooks.devices}
              ids={body.devices}
              onChange={(devices) => change({ devices })}
              maxCount={MAX_IDS}
            />
          </div>
        </Card>
      </div>
      {error && <Refusal error={error} />}
      <div class="form-actions">
        <Button type="submit" kind="primary" isPending={save.isPending}>
          {webhook ? text.common.save : text.webhooks.create}
        </Button>
        <LinkButton href="/webhooks">{text.common.cancel}</LinkButton>
      </div>
    </form>
  )
}
