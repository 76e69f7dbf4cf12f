import { useState } from 'preact/hooks'
import { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { call } from '../../api/client.ts'
import type { Operations } from '../../api/operations.ts'
import { useResource } from '../../api/resource.ts'
import type { OperatedAccount } from '../../api/types.ts'
import { formatNumber } from '../../format/units.ts'
import { usePolling } from '../../live/usePolling.ts'
import { operatorText as words } from '../../text/operator.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { ConfirmButton } from '../../ui/dialog/ConfirmButton.tsx'
import { TextField } from '../../ui/form/fields.tsx'
import { Badge, Card, Facts } from '../../ui/Page.tsx'
import { NotLoaded } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { operator } from '../operator.ts'

const POLL_MS = 2000

type Move = Operations['GET /admin/accounts/{accountId}/move']['reply']['move']

/** In an object, so that "no move" is not taken for "not loaded". */
const readMove = async (accountId: string, signal: AbortSignal): Promise<{ move: Move | null }> => {
  try {
    return await call('GET /admin/accounts/{accountId}/move', { params: { accountId }, signal })
  } catch (error) {
    if (error instanceof PerigeeError && error.code === 'move-not-found') return { move: null }
    throw error
  }
}

const isOver = ({ step }: Move): boolean => step === 'done' || step === 'cancelled'
const canCancel = ({ step }: Move): boolean => step === 'copying' || step === 'catchingUp'

const Progress = ({ move }: { move: Move }) => (
  <Facts
    facts={[
      [words.move.fromTo, words.move.cells(move.from, move.to)],
      [
        words.move.step,
        <Badge key="step" kind={move.fault ? 'bad' : isOver(move) ? 'good' : 'info'}>
          {words.move.steps[move.step]}
        </Badge>,
      ],
      ...(move.fault ? [[words.move.fault, move.fault] as const] : []),
      [words.move.started, <Time key="started" value={move.started} />],
      [words.move.progress, <Time key="changed" value={move.changed} isRelative />],
      [words.move.copied, formatNumber(move.copied)],
      [words.move.caughtUp, formatNumber(move.caughtUp)],
      [words.move.verified, formatNumber(move.verified)],
      [words.move.corrected, formatNumber(move.corrected)],
      ...(move.frozenMs === null
        ? []
        : [[words.move.frozen, words.move.frozenMs(formatNumber(move.frozenMs))] as const]),
    ]}
  />
)

interface MoveCardProps {
  account: OperatedAccount
  /** Called once the account is in another cell than is shown. */
  onMoved: () => void
}

/** Moves an account to another cell, and shows how far the last move is. */
export const MoveCard = ({ account: { id, name, cell, deletedAt }, onMoved }: MoveCardProps) => {
  const [to, setTo] = useState('')
  const loaded = useResource((signal) => readMove(id, signal), [id])
  const move = loaded.data?.move ?? null
  usePolling(async (signal) => {
    if (!move || isOver(move)) return
    const read = await readMove(id, signal)
    loaded.set(() => read)
    if (read.move?.switched && read.move.to !== cell) onMoved()
  }, POLL_MS)
  const params = { accountId: id }
  const canStart = operator.may('own') && deletedAt === null && (!move || isOver(move))
  if (loaded.data && !move && !canStart) return null
  return (
    <Card title={words.move.title}>
      <div class="stack">
        <p class="hint">{words.move.lead}</p>
        {!loaded.data && <NotLoaded of={loaded} rows={2} />}
        {move && <Progress move={move} />}
        {move && operator.may('own') && canCancel(move) && (
          <div class="actions">
            <ActionButton
              onAct={async () => {
                await call('DELETE /admin/accounts/{accountId}/move', { params })
                loaded.reload()
              }}
            >
              {words.move.cancel}
            </ActionButton>
          </div>
        )}
        {canStart && loaded.data && (
          <>
            <TextField
              label={words.move.to}
              hint={words.move.toHint}
              type="number"
              min={0}
              max={9999}
              value={to}
              onInput={setTo}
            />
            <div class="actions">
              <ConfirmButton
                icon="arrow"
                label={words.move.start}
                title={words.move.startTitle(name)}
                question={words.move.startQuestion(to)}
                confirmLabel={words.move.start}
                disabled={to === '' || Number(to) === cell}
                onConfirm={async () => {
                  const body = { cell: Number(to) }
                  await call('POST /admin/accounts/{accountId}/move', { params, body })
                  setTo('')
                  loaded.reload()
                }}
              />
            </div>
          </>
        )}
      </div>
    </Card>
  )
}
