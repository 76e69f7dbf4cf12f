import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import { saveChanges } from '../../api/saveChanges.ts'
import type { Watch } from '../../api/types.ts'
import { CHANNELS } from '../../format/channels.ts'
import { toLocalInput, viewerZone } from '../../format/time.ts'
import { setLeaveGuard } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { alertLabel, text } from '../../text/text.ts'
import { Choices } from '../../ui/form/Choices.tsx'
import { DevicePicker } from '../../ui/form/DevicePicker.tsx'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { FieldError, SeveralField } from '../../ui/form/fieldGroups.tsx'
import { CheckField, choicesOf, SelectField, TextField } from '../../ui/form/fields.tsx'
import { DeviceLink } from '../../ui/links.tsx'
import { Card } from '../../ui/Page.tsx'
import { Refusal } from '../../ui/states.tsx'
import {
  newWatchDraft,
  WATCH_ALERT,
  type WatchDraft,
  watchBodyOf,
  watchDraftOf,
} from './watchDraft.ts'
import { WATCH_COUNTS } from './watches.ts'

const KINDS = ['due', 'every'] as const
const REFUSALS: Record<string, string> = {
  'watch-ended': later.watches.ended,
  'watch-limit-reached': later.watches.limitReached,
}

interface PartProps {
  draft: WatchDraft
  change: (changes: Partial<WatchDraft>) => void
  error: ReturnType<typeof useAction>['error']
}

/** When a check-in must come, and what is one. */
const PromiseFields = (part: PartProps) => {
  const { draft, change, error } = part
  const bind = bindFields(part)
  return (
    <Card title={later.watches.promise}>
      <div class="stack">
        <Choices
          label={later.watches.kind}
          isLabelHidden
          value={draft.kind}
          choices={choicesOf(KINDS, later.watches.kinds)}
          onChange={(kind) => change({ kind })}
        />
        {draft.kind === 'due' ? (
          <TextField
            label={later.watches.due}
            hint={later.watches.dueHint(viewerZone)}
            {...bind.instant('due')}
            min={toLocalInput(Date.now())}
          />
        ) : (
          <fieldset class="stack">
            <legend class="field-legend">{later.watches.interval}</legend>
            <div class="pair">
              <TextField
                label={later.watches.hours}
                {...bind.text('hours')}
                type="number"
                min={0}
              />
              <TextField
                label={later.watches.minutes}
                {...bind.text('minutes')}
                type="number"
                min={0}
              />
            </div>
            <FieldError
              label={later.watches.intervalMinutes}
              pointer="/everyMinutes"
              error={error}
            />
          </fieldset>
        )}
        <TextField
          label={later.watches.graceMinutes}
          hint={later.watches.graceHint}
          {...bind.text('graceMinutes')}
          type="number"
          min={0}
        />
        <SelectField
          label={later.watches.counts}
          hint={later.watches.countHints[draft.counts]}
          choices={choicesOf(WATCH_COUNTS, later.watches.countNames)}
          pointer="/counts"
          error={error}
          value={draft.counts}
          onChange={(counts) => change({ counts })}
        />
        <TextField
          label={later.watches.remindMinutes}
          hint={later.watches.remindHint}
          {...bind.text('remindMinutes')}
          type="number"
          min={0}
          isOptional
        />
      </div>
    </Card>
  )
}

/** The alert that a missed check-in raises, and who is notified. */
const AlertFields = (part: PartProps) => {
  const bind = bindFields(part)
  return (
    <Card title={later.watches.whenMissed}>
      <div class="stack">
        <TextField
          label={later.watches.alertName}
          hint={later.watches.alertNameHint(alertLabel(WATCH_ALERT))}
          {...bind.text('alertName')}
          maxLength={64}
          isOptional
        />
        <SeveralField
          label={later.watches.notifications}
          options={choicesOf(CHANNELS, text.messages.channels)}
          {...bind.several('notifications')}
        />
        <CheckField
          label={later.watches.emergency}
          hint={later.watches.emergencyHint}
          {...bind.check('emergency')}
        />
      </div>
    </Card>
  )
}

interface WatchFormProps {
  watch: Watch | null
  /** The device that is chosen at first. */
  deviceId: string | null
  onStored: (watch: Watch) => void
}

export const WatchForm = ({ watch, deviceId, onStored }: WatchFormProps) => {
  const { draft, change, stored, isDirty } = useDraft<WatchDraft>(() =>
    watch ? watchDraftOf(watch, Date.now()) : newWatchDraft(deviceId, Date.now()),
  )
  const save = useAction(async () => {
    const body = watchBodyOf(draft)
    const reply = watch
      ? await saveChanges('/api/watches/{watchId}', {
          params: { watchId: watch.id },
          before: watchBodyOf(stored),
          after: body,
          read: ({ watch: current }) => watchBodyOf(watchDraftOf(current, Date.now())),
        })
      : await call('POST /api/watches', { body })
    setLeaveGuard(null)
    onStored(reply.watch)
  })
  const { error } = save
  const refused = error?.code && REFUSALS[error.code]
  const part = { draft, change, error }
  const bind = bindFields(part)
  return (
    <Form
      submitLabel={watch ? text.common.save : later.watches.start}
      cancelHref={watch ? `/watches/${watch.id}` : '/watches'}
      action={save}
      refusal={error && refused && <Refusal error={error}>{refused}</Refusal>}
      canSubmit={!watch || isDirty}
      isNarrow
    >
      <Card>
        <div class="stack">
          <TextField
            label={later.watches.name}
            hint={later.watches.nameHint}
            {...bind.text('name')}
            maxLength={200}
            required
            autofocus={!watch}
          />
          {watch ? (
            <p>
              {later.watches.device}: <DeviceLink id={watch.deviceId} />
            </p>
          ) : (
            <DevicePicker
              label={later.watches.device}
              maxCount={1}
              {...bind.several('devices')}
              pointer="/deviceId"
            />
          )}
        </div>
      </Card>
      <PromiseFields {...part} />
      <AlertFields {...part} />
    </Form>
  )
}
