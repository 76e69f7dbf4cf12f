import { useEffect, useRef } from 'preact/hooks'
import { useList } from '../../../api/list.ts'
import { isAdmin } from '../../../api/people.ts'
import type { Command, Device } from '../../../api/types.ts'
import { useLiveEvents } from '../../../live/useLive.ts'
import { session } from '../../../session/session.ts'
import { later } from '../../../text/later.ts'
import { Button } from '../../../ui/Button.tsx'
import { Badge, Card } from '../../../ui/Page.tsx'
import { Failed, Skeleton } from '../../../ui/states.tsx'
import { Time } from '../../../ui/Time.tsx'
import { CommandChannel } from './CommandChannel.tsx'
import { CommandForm } from './CommandForm.tsx'
import './conversation.css'
import { answerText, commandText } from './command.ts'

const PAGE_SIZE = 30
const KINDS = {
  queued: 'plain',
  sent: 'info',
  delivered: 'good',
  failed: 'bad',
  unknown: 'warn',
} as const

const Entry = ({ command }: { command: Command }) => {
  const { received, status, format, sms, creation } = command
  const answer = answerText(command)
  return (
    <li class={received ? 'entry received' : 'entry'}>
      <p class="entry-head">
        {received ? later.conversation.fromDevice : later.conversation.toDevice}
        {sms && ` ${later.conversation.bySms}`} · <Time value={creation} />
      </p>
      <p class={format === 'Text' ? 'entry-text' : 'entry-text code'}>{commandText(command)}</p>
      {format !== 'Text' && <p class="hint">{later.conversation.formats[format]}</p>}
      {!received && <Badge kind={KINDS[status]}>{later.conversation.statuses[status]}</Badge>}
      {!received && status === 'unknown' && <p class="hint">{later.conversation.unknownHint}</p>}
      {answer && <p class="hint">{answer}</p>}
    </li>
  )
}

const useConversation = (deviceId: string) => {
  const pages = useList('GET /api/devices/{deviceId}/commands', 'commands', {
    params: { deviceId },
    query: { limit: PAGE_SIZE },
  })
  // Messages of the device, and what became of an SMS.
  useLiveEvents(
    ['message.*'],
    (event) => event.data.deviceId === deviceId && pages.reload(),
    pages.reload,
  )
  return pages
}

const CommandPart = ({ device, onSent }: { device: Device; onSent: (sent: Command) => void }) => {
  if (!session.can('execute')) return <p class="hint">{later.conversation.may}</p>
  if (device.state === 'expired') return <p class="hint">{later.conversation.expired}</p>
  return <CommandForm device={device} onSent={onSent} />
}

/** Commands to a device and messages written on it, the newest last. */
export const Conversation = ({ device }: { device: Device }) => {
  const pages = useConversation(device.id)
  const { items, error, isPending, hasMore } = pages
  const list = useRef<HTMLDivElement>(null)
  const newest = items[0]?.id
  useEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight
  }, [newest])
  const isFirstLoad = isPending && items.length === 0
  return (
    <Card title={later.conversation.title}>
      <div class="stack">
        {error && <Failed error={error} onRetry={pages.reload} />}
        {isFirstLoad && <Skeleton rows={3} />}
        {!isPending && !error && items.length === 0 && (
          <p class="muted">{later.conversation.empty}</p>
        )}
        {items.length > 0 && (
          <div
            ref={list}
            class="conversation"
            role="log"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it.
            tabIndex={0}
            aria-label={later.conversation.title}
          >
            {hasMore && (
              <Button size="small" kind="quiet" isPending={isPending} onClick={pages.loadMore}>
                {later.conversation.earlier}
              </Button>
            )}
            <ol>
              {[...items].reverse().map((command) => (
                <Entry key={command.id} command={command} />
              ))}
            </ol>
          </div>
        )}
        {isAdmin() && <CommandChannel device={device} />}
        <CommandPart
          device={device}
          onSent={(sent) =>
            pages.set((before) => [sent, ...before.filter(({ id }) => id !== sent.id)])
          }
        />
      </div>
    </Card>
  )
}
