import { useState } from 'preact/hooks'
import { call } from '../../../api/client.ts'
import { useAction } from '../../../api/resource.ts'
import { DAY_MS, MINUTE_MS } from '../../../format/time.ts'
import { later } from '../../../text/later.ts'
import { text } from '../../../text/text.ts'
import { FormDialog } from '../../../ui/dialog/Dialog.tsx'
import { bindFields, useInput } from '../../../ui/form/draft.ts'
import { TextField } from '../../../ui/form/fields.tsx'

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
  const { draft: span, change } = useInput(wholeSpan)
  const [outcome, setOutcome] = useState<string | null>(null)
  const replay = useAction(async () => {
    setOutcome(null)
    const { decoded, failed } = await call('POST /api/sources/{sourceId}/replay', {
      params: { sourceId },
      body: { from: span.from ?? '', to: span.to ?? '' },
    })
    setOutcome(later.failures.replayed(decoded, failed))
    onReplayed()
  })
  const bind = bindFields({ draft: span, change, error: replay.error })
  return (
    <FormDialog
      title={later.failures.replayTitle}
      submitLabel={later.failures.replay}
      closeLabel={text.common.close}
      action={replay}
      onClose={onClose}
    >
      <p>{later.failures.replayText}</p>
      <div class="fields">
        <TextField label={later.failures.from} {...bind.instant('from')} />
        <TextField label={later.failures.to} {...bind.instant('to')} />
      </div>
      <p role="status">{outcome}</p>
    </FormDialog>
  )
}
