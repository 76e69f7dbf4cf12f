import { useState } from 'preact/hooks'
import { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Watch } from '../../api/types.ts'
import { formatDateTime, viewerZone } from '../../format/time.ts'
import { later } from '../../text/later.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton, DeleteButton } from '../../ui/dialog/ConfirmButton.tsx'
import { Dialog, FormDialog } from '../../ui/dialog/Dialog.tsx'
import { CodeLine } from '../../ui/dialog/ShownOnce.tsx'
import { Choices } from '../../ui/form/Choices.tsx'
import { bindFields, useInput } from '../../ui/form/draft.ts'
import { choicesOf, TextField } from '../../ui/form/fields.tsx'
import { toast } from '../../ui/toast.tsx'
import { extendedDue } from './watchDraft.ts'

interface ActionProps {
  watch: Watch
  onDone: (watch: Watch) => void
  /** Called instead when it has ended meanwhile. */
  onEnded: () => void
}

type Step = 'checkIn' | 'complete' | 'cancel'
const DONE = {
  checkIn: later.watches.checkedIn,
  complete: later.watches.completed,
  cancel: later.watches.cancelled,
  extend: later.watches.extended,
} as const

/** Takes a step, unless the check-in has ended: its buttons vanish then, and the page says why. */
const takeStep = async (
  { onDone, onEnded }: ActionProps,
  step: keyof typeof DONE,
  act: () => Promise<{ watch: Watch }>,
): Promise<void> => {
  try {
    onDone((await act()).watch)
    toast(DONE[step])
  } catch (error) {
    if (!(error instanceof PerigeeError && error.code === 'watch-ended')) throw error
    onEnded()
  }
}

const runStep = (props: ActionProps, step: Step): Promise<void> =>
  takeStep(props, step, () =>
    call(`POST /api/watches/{watchId}/${step}`, { params: { watchId: props.watch.id } }),
  )

export const CheckIn = (props: ActionProps) => (
  <ActionButton kind="primary" icon="check" onAct={() => runStep(props, 'checkIn')}>
    {later.watches.checkIn}
  </ActionButton>
)

const CHOICES = ['60', '180', '360', '720', 'custom'] as const

const ExtendDialog = ({ onClose, ...props }: ActionProps & { onClose: () => void }) => {
  const { watch } = props
  const [by, setBy] = useState<(typeof CHOICES)[number]>('60')
  const dueBy = (minutes: string) => extendedDue(watch.nextDue, Number(minutes), Date.now())
  const input = useInput<{ due: string | null }>(() => ({ due: dueBy('60') }))
  const { due } = input.draft
  const extend = useAction(async () => {
    const body = { due: due ?? '' }
    await takeStep(props, 'extend', () =>
      call('POST /api/watches/{watchId}/extend', { params: { watchId: watch.id }, body }),
    )
    onClose()
  })
  return (
    <FormDialog
      title={later.watches.extendTitle(watch.name)}
      submitLabel={later.watches.extendConfirm}
      action={extend}
      onClose={onClose}
    >
      <Choices
        label={later.watches.extendBy}
        value={by}
        choices={choicesOf(CHOICES, later.watches.extendChoices)}
        onChange={(chosen) => {
          setBy(chosen)
          if (chosen !== 'custom') input.change({ due: dueBy(chosen) })
        }}
      />
      {by === 'custom' ? (
        <TextField
          label={later.watches.newDeadline}
          hint={later.watches.dueHint(viewerZone)}
          {...bindFields({ ...input, error: extend.error }).instant('due')}
        />
      ) : (
        <p>
          {later.watches.newDeadline}: <b>{due && formatDateTime(due)}</b>
        </p>
      )}
    </FormDialog>
  )
}

export const Extend = (props: ActionProps) => {
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <Button icon="clock" onClick={() => setIsAsking(true)}>
        {later.watches.extend}
      </Button>
      {isAsking && <ExtendDialog {...props} onClose={() => setIsAsking(false)} />}
    </>
  )
}

export const Complete = (props: ActionProps) => (
  <ConfirmButton
    icon="check"
    label={later.watches.complete}
    title={later.watches.completeTitle(props.watch.name)}
    question={later.watches.completeQuestion}
    confirmLabel={later.watches.completeConfirm}
    onConfirm={() => runStep(props, 'complete')}
  />
)

export const Cancel = (props: ActionProps) => (
  <ConfirmButton
    icon="close"
    label={later.watches.cancel}
    title={later.watches.cancelTitle(props.watch.name)}
    question={later.watches.cancelQuestion}
    confirmLabel={later.watches.cancelConfirm}
    onConfirm={() => runStep(props, 'cancel')}
  />
)

/** Shows the link, with a button that copies it. */
export const CheckInLink = ({ watch: { id, name } }: Pick<ActionProps, 'watch'>) => {
  const [url, setUrl] = useState<string | null>(null)
  return (
    <>
      <ActionButton
        icon="copy"
        onAct={async () =>
          setUrl((await call('POST /api/watches/{watchId}/link', { params: { watchId: id } })).url)
        }
      >
        {later.watches.link}
      </ActionButton>
      {url !== null && (
        <Dialog title={later.watches.linkTitle(name)} onClose={() => setUrl(null)} size="large">
          <div class="stack">
            <p>{later.watches.linkLead}</p>
            <CodeLine label={later.watches.linkLabel} value={url} />
          </div>
        </Dialog>
      )}
    </>
  )
}

export const DeleteWatch = ({ watch: { id, name } }: Pick<ActionProps, 'watch'>) => (
  <DeleteButton
    title={later.watches.deleteTitle(name)}
    question={later.watches.deleteQuestion}
    confirmLabel={later.watches.deleteConfirm}
    onDelete={() => call('DELETE /api/watches/{watchId}', { params: { watchId: id } })}
    deleted={later.watches.deleted(name)}
    href="/watches"
  />
)
