import { useState } from 'preact/hooks'
import { call } from '../../../api/client.ts'
import { isAdmin } from '../../../api/people.ts'
import type { ApiError } from '../../../api/problem.ts'
import { useAction } from '../../../api/resource.ts'
import type { Command, Device } from '../../../api/types.ts'
import { text } from '../../../text/text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Choices } from '../../../ui/form/Choices.tsx'
import { bindFields, useInput } from '../../../ui/form/draft.ts'
import { Form } from '../../../ui/form/Form.tsx'
import { choicesOf, SelectField, TextArea, TextField } from '../../../ui/form/fields.tsx'
import { Refusal } from '../../../ui/states.tsx'
import {
  bodyOf,
  type CommandDraft,
  EMPTY_COMMAND,
  fieldOf,
  isComplete,
  KINDS,
  type Way,
} from './command.ts'

const WAYS = choicesOf(['network', 'sms'], text.conversation.ways)
const KIND_CHOICES = choicesOf(KINDS, text.conversation.kinds)

interface NoChannelProps {
  error: ApiError
  /** Null where the device has no number. */
  onSms: (() => void) | null
}

/** Why the device takes no commands, and what can be done. */
const NoChannel = ({ error, onSms }: NoChannelProps) => (
  <Refusal error={error}>
    <b>{text.conversation.noChannelTitle}</b> {text.conversation.noChannel}{' '}
    {isAdmin() && <a href="/sources">{text.conversation.toSources}</a>}{' '}
    {onSms && (
      <Button size="small" onClick={onSms}>
        {text.conversation.trySms}
      </Button>
    )}
  </Refusal>
)

const wayHint = (way: Way, { min }: Device): string | null => {
  if (way === 'network') return null
  return min ? text.conversation.smsTo(min) : text.conversation.smsNeedsNumber
}

interface CommandFormProps {
  device: Device
  onSent: (command: Command) => void
}

export const CommandForm = ({ device, onSent }: CommandFormProps) => {
  const { draft, change } = useInput<CommandDraft>(EMPTY_COMMAND)
  const [result, setResult] = useState<string | null>(null)
  const send = useAction(async () => {
    setResult(null)
    const reply = await call('POST /api/devices/{deviceId}/sendCommand', {
      params: { deviceId: device.id },
      body: bodyOf(draft),
    })
    setResult(reply.result)
    change({ content: '' })
    onSent(reply.command)
  })
  const { error, clear } = send
  const bind = bindFields({ draft, change, error })
  const isSms = draft.way === 'sms'
  const isText = isSms || draft.kind === 'text'
  const field = fieldOf(draft)
  const hint = wayHint(draft.way, device)
  const turnToSms = () => {
    clear()
    change({ way: 'sms' })
  }
  return (
    <Form
      submitLabel={text.conversation.send}
      action={send}
      canSubmit={isComplete(draft) && !(isSms && !device.min)}
      refusal={
        error?.code === 'no-command-channel' ? (
          <NoChannel error={error} onSms={device.min ? turnToSms : null} />
        ) : undefined
      }
    >
      <div class="command-row">
        <div>
          <Choices
            label={text.conversation.by}
            value={draft.way}
            choices={WAYS}
            onChange={(way) => {
              clear()
              change({ way })
            }}
          />
          {hint && <p class="hint">{hint}</p>}
        </div>
        {!isSms && (
          <SelectField
            label={text.conversation.kind}
            hint={text.conversation.kindHints[draft.kind]}
            {...bind.choice('kind')}
            choices={KIND_CHOICES}
          />
        )}
      </div>
      {field === 'content' && (
        <TextArea
          label={isText ? text.conversation.text : text.conversation.bytes}
          hint={
            isText
              ? `${text.conversation.characters(draft.content.length)}. ${isSms ? text.conversation.smsHint : ''}`
              : undefined
          }
          {...bind.text('content')}
          pointer="/command"
          rows={2}
          maxLength={2000}
        />
      )}
      {field === 'seconds' && (
        <TextField
          label={text.conversation.seconds}
          hint={text.conversation.secondsHint}
          type="number"
          min={30}
          max={65_535}
          {...bind.text('seconds')}
          pointer="/command"
        />
      )}
      <p class="hint" role="status">
        {result}
      </p>
    </Form>
  )
}
