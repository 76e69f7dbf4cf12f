import { useState } from 'preact/hooks'
import { call } from '../../../api/client.ts'
import { useAction } from '../../../api/resource.ts'
import { DAY_MS, MINUTE_MS } from '../../../format/time.ts'
import { text } from '../../../text/text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Dialog } from '../../../ui/dialog/Dialog.tsx'
import { bindFields } from '../../../ui/form/draft.ts'
import { TextField } from '../../../ui/form/fields.tsx'
import { Refusal } from '../../../ui/states.tsx'

interface ReplayDialogProps {
  sourceId: string
  onClose: () => void
  onReplayed: () => void
}

const KEPT_DAYS = 7

/** All that is kept. A field has whole minutes, so the end is that of the present one. */
const wholeSpan = () => {
  const now = Date.now()
  const iso = (at: number) => new Date(at).toISOString()
  return {
    from: iso(now - KEPT_DAYS * DAY_MS) as string | null,
    to: iso(Math.ceil(now / MINUTE_MS) * MINUTE_MS) as string | null,
  }
}

export const ReplayDialog = ({ sourceId, onClose, onReplayed }: ReplayDialogProps) => {
  const [span, setSpan] = useState(wholeSpan)
  const [outcome, setOutcome] = useState<string | null>(null)
  const replay = useAction(async () => {
    setOutcome(null)
    const { decoded, failed } = await call('POST /api/sources/{sourceId}/replay', {
      params: { sourceId },
      body: { from: span.from ?? '', to: span.to ?? '' },
    })
    setOutcome(text.failures.replayed(decoded, failed))
    onReplayed()
  })
  const { error, isPending } = replay
  const bind = bindFields({
    draft: span,
    change: (changes) => setSpan((before) => ({ ...before, ...changes })),
    error,
  })
  return (
    <Dialog
      title={text.failures.replayTitle}
      onClose={onClose}
      onSubmit={() => !isPending && void replay.run()}
      actions={
        <>
          <Button onClick={onClose}>{text.common.close}</Button>
          <Button type="submit" kind="primary" isPending={isPending}>
            {text.failures.replay}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>{text.failures.replayText}</p>
        <div class="fields">
          <TextField label={text.failures.from} {...bind.instant('from')} />
          <TextField label={text.failures.to} {...bind.instant('to')} />
        </div>
        <p role="status">{outcome}</p>
        {error && <Refusal error={error} />}
      </div>
    </Dialog>
  )
}
