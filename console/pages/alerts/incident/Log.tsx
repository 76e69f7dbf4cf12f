import { useState } from 'preact/hooks'
import { call } from '../../../api/client.ts'
import { useAction } from '../../../api/resource.ts'
import type { Alert } from '../../../api/types.ts'
import { formatExact, formatUtc } from '../../../format/time.ts'
import { session } from '../../../session/session.ts'
import { later } from '../../../text/later.ts'
import { Form } from '../../../ui/form/Form.tsx'
import { TextArea } from '../../../ui/form/fields.tsx'
import { Icon, type IconName } from '../../../ui/Icon.tsx'
import { Card } from '../../../ui/Page.tsx'
import { MAX_NOTE_LENGTH } from '../actions.tsx'

type Entry = NonNullable<Alert['log']>[number]

const ICONS: Record<Entry['action'], IconName> = {
  raised: 'warning',
  joined: 'warning',
  acknowledged: 'check',
  resolved: 'check',
  cancelled: 'close',
  reopened: 'refresh',
  noted: 'message',
  escalated: 'alert',
  undelivered: 'warning',
}

const LogEntry = ({ entry, nameOf }: { entry: Entry; nameOf: (id: string) => string }) => {
  const { at, action, by, text: said } = entry
  return (
    <li class={`log-entry ${action}`}>
      <Icon name={ICONS[action]} size={16} />
      <div>
        <p>
          <b>{later.incident.actions[action]}</b>
          {by && <span> · {nameOf(by)}</span>}{' '}
          <time class="muted" datetime={at} title={formatUtc(at)}>
            {formatExact(at)}
          </time>
        </p>
        {said && (
          <p class="log-text">{action === 'escalated' ? later.incident.round(said) : said}</p>
        )}
      </div>
    </li>
  )
}

const NoteForm = ({ alertId, onDone }: { alertId: string; onDone: (alert: Alert) => void }) => {
  const [note, setNote] = useState('')
  const action = useAction(async () => {
    const reply = await call('POST /api/alerts/{alertId}/notes', {
      params: { alertId },
      body: { text: note.trim() },
    })
    setNote('')
    onDone(reply.alert)
  })
  return (
    <Form submitLabel={later.incident.addNote} action={action} canSubmit={note.trim() !== ''}>
      <TextArea
        label={later.incident.note}
        value={note}
        onInput={setNote}
        rows={2}
        maxLength={MAX_NOTE_LENGTH}
      />
    </Form>
  )
}

interface LogProps {
  alert: Alert
  nameOf: (id: string) => string
  onDone: (alert: Alert) => void
}

/** What happened to the emergency, the newest last, and a note to write. */
export const Log = ({ alert, nameOf, onDone }: LogProps) => (
  <Card title={later.incident.log}>
    <div class="stack">
      <ol class="log">
        {(alert.log ?? []).map((entry) => (
          <LogEntry key={`${entry.at} ${entry.action}`} entry={entry} nameOf={nameOf} />
        ))}
      </ol>
      {session.can('write') && <NoteForm alertId={alert.id} onDone={onDone} />}
    </div>
  </Card>
)
