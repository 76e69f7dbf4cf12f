import { useState } from 'preact/hooks'
import type { PerigeeError } from '../../../../clients/typescript/src/error.ts'
import { call } from '../../../api/client.ts'
import { isAdmin } from '../../../api/people.ts'
import { useAction } from '../../../api/resource.ts'
import type { Command, Device, SendCommandReply } from '../../../api/types.ts'
import { later } from '../../../text/later.ts'
import { Button } from '../../../ui/Button.tsx'
import { Choices } from '../../../ui/form/Choices.tsx'
import { bindFields, useInput } from '../../../ui/form/draft.ts'
import { Form } from '../../../ui/form/Form.tsx'
import { choicesOf, SelectField, TextArea, TextField } from '../../../ui/form/fields.tsx'
import { Refusal } from '../../../ui/states.tsx'
import {
  answerText,
  bodyOf,
  type CommandDraft,
  EMPTY_COMMAND,
  fieldOf,
  isComplete,
  KINDS,
  type Way,
} from './command.ts'

const WAYS = choicesOf(['network', 'sms'], later.conversation.ways)
const KIND_CHOICES = choicesOf(KINDS, later.conversation.kinds)

interface NoChannelProps {
  error: PerigeeError
  way: Way
  /** What an SMS would be; null where the device has no number. */
  sms: 'text' | 'other' | null
  onSms: () => void
}

/** Why the command was not sent, and what can be done. */
const NoChannel = ({ error, way, sms, onSms }: NoChannelProps) =>
  way === 'sms' ? (
    <Refusal error={error}>{later.conversation.smsBadNumber}</Refusal>
  ) : (
    <Refusal error={error}>
      <b>{later.conversation.noChannelTitle}</b> {later.conversation.noChannel}{' '}
      {isAdmin() && <a href="/sources">{later.conversation.toSources}</a>}{' '}
      {sms === 'other' && later.conversation.smsOnlyText}
      {sms === 'text' && (
        <Button size="small" onClick={onSms}>
          {later.conversation.trySms}
        </Button>
      )}
    </Refusal>
  )

const wayHint = (way: Way, { min }: Device): string | null => {
  if (way === 'network') return null
  return min ? later.conversation.smsTo(min) : later.conversation.smsNeedsNumber
}

/** What the service says of a command that it took, which may still have failed. */
const resultOf = ({ result, command }: SendCommandReply): string =>
  command.status === 'failed' ? [later.conversation.notSent, answerText(command)].join(' ') : result

interface CommandFormProps {
  device: Device
  onSent: (command: Command) => void
}

export const CommandForm = ({ device, onSent }: CommandFormProps) => {
  const { draft, change } = useInput<CommandDraft>(EMPTY_COMMAND)
  const [result, setResult] = useState<string | null>(null)
  const send = useAction(async (given: CommandDraft = draft) => {
    setResult(null)
    const reply = await call('POST /api/devices/{deviceId}/sendCommand', {
      params: { deviceId: device.id },
      body: bodyOf(given),
    })
    onSent(reply.command)
    setResult(resultOf(reply))
    if (reply.command.status !== 'failed') change({ content: '' })
  })
  const { error, clear } = send
  const bind = bindFields({ draft, change, error })
  const isSms = draft.way === 'sms'
  const isText = isSms || draft.kind === 'text'
  const field = fieldOf(draft)
  const hint = wayHint(draft.way, device)
  const sendBySms = () => {
    change({ way: 'sms' })
    void send.run({ ...draft, way: 'sms' })
  }
  return (
    <Form
      submitLabel={later.conversation.send}
      action={send}
      canSubmit={isComplete(draft) && !(isSms && !device.min)}
      refusal={
        error?.code === 'no-command-channel' ? (
          <NoChannel
            error={error}
            way={draft.way}
            sms={device.min ? (isText ? 'text' : 'other') : null}
            onSms={sendBySms}
          />
        ) : undefined
      }
    >
      <div class="command-row">
        <div>
          <Choices
            label={later.conversation.by}
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
            label={later.conversation.kind}
            hint={later.conversation.kindHints[draft.kind]}
            {...bind.choice('kind')}
            choices={KIND_CHOICES}
          />
        )}
      </div>
      {field === 'content' && (
        <TextArea
          label={isText ? later.conversation.text : later.conversation.bytes}
          hint={
            isText
              ? `${later.conversation.characters(draft.content.length)}. ${isSms ? later.conversation.smsHint : ''}`
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
          label={later.conversation.seconds}
          hint={later.conversation.secondsHint}
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
