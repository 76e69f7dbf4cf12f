import { useMemo, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { type Pages, useAction, usePages } from '../../api/resource.ts'
import type { Device, ListQuarantineReply } from '../../api/types.ts'
import { formatDateTime } from '../../format/time.ts'
import { formatPosition } from '../../format/units.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { Confirm } from '../../ui/dialog/Dialog.tsx'
import { CheckField } from '../../ui/form/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { Failed, Refusal, Skeleton } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { type NamedPlace, PlacesMap } from '../map/MapFrame.tsx'
import './conversation/conversation.css'

type Fix = ListQuarantineReply['quarantine'][number]

const PAGE_SIZE = 50

const placesOf = (fixes: readonly Fix[], { id, lastLocation }: Device): NamedPlace[] => [
  ...(lastLocation
    ? [{ ...lastLocation, id, name: text.quarantine.accepted, state: 'fresh' as const }]
    : []),
  ...fixes.map((fix) => ({
    ...fix.location,
    id: fix.id,
    name: formatDateTime(fix.location.dateTime),
    state: 'quiet' as const,
  })),
]

interface EntryProps {
  fix: Fix
  isSelected: boolean
  onSelect: ((isSelected: boolean) => void) | null
}

const Entry = ({ fix: { id, reason, location, receivedAt }, isSelected, onSelect }: EntryProps) => (
  <li>
    {onSelect && (
      <input
        id={id}
        type="checkbox"
        aria-label={text.quarantine.select(formatDateTime(location.dateTime))}
        checked={isSelected}
        onChange={({ currentTarget }) => onSelect(currentTarget.checked)}
      />
    )}
    <div>
      <p>{text.quarantine.reasons[reason]}</p>
      <p class="hint">
        {formatPosition(location.latitude, location.longitude)} · <Time value={location.dateTime} />{' '}
        · {text.quarantine.arrived} <Time value={receivedAt} isRelative />
      </p>
    </div>
  </li>
)

interface ActionsProps {
  device: Device
  pages: Pages<Fix>
  selected: readonly string[]
  onDone: () => void
}

const Actions = ({ device, pages, selected, onDone }: ActionsProps) => {
  const [isAsking, setIsAsking] = useState(false)
  const options = { params: { deviceId: device.id }, body: { ids: [...selected] } }
  const release = useAction(async () => {
    const reply = await call('POST /api/devices/{deviceId}/quarantine/release', options)
    if (reply.released > 0) toast(text.quarantine.released(reply.released))
    if (reply.conflicts.length > 0)
      toast(text.quarantine.conflicts(reply.conflicts.length), 'failed')
    pages.reload()
    onDone()
  })
  const discard = useAction(async () => {
    const reply = await call('POST /api/devices/{deviceId}/quarantine/discard', options)
    toast(text.quarantine.discarded(reply.discarded))
    setIsAsking(false)
    pages.reload()
    onDone()
  })
  const isNone = selected.length === 0
  return (
    <>
      <div class="form-actions">
        <Button
          icon="check"
          disabled={isNone}
          isPending={release.isPending}
          onClick={() => release.run()}
        >
          {text.quarantine.release}
        </Button>
        <Button icon="trash" kind="danger" disabled={isNone} onClick={() => setIsAsking(true)}>
          {text.quarantine.discard}
        </Button>
      </div>
      <p class="hint" aria-live="polite">
        {isNone ? text.quarantine.releaseHint : text.quarantine.selected(selected.length)}
      </p>
      {release.error && <Refusal error={release.error} />}
      {isAsking && (
        <Confirm
          title={text.quarantine.discardTitle(selected.length)}
          confirmLabel={text.quarantine.discard}
          onConfirm={() => discard.run()}
          onClose={() => setIsAsking(false)}
          isPending={discard.isPending}
          error={discard.error}
        >
          <p>{text.quarantine.discardQuestion}</p>
        </Confirm>
      )}
    </>
  )
}

interface ListProps {
  device: Device
  pages: Pages<Fix>
  onReleased: () => void
}

const List = ({ device, pages, onReleased }: ListProps) => {
  const { items, hasMore, isPending, loadMore } = pages
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const places = useMemo(() => placesOf(items, device), [items, device.lastLocation])
  const selected = items.map(({ id }) => id).filter((id) => chosen.has(id))
  const canChange = session.can('write')
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen)
    if (isChosen) next.add(id)
    else next.delete(id)
    setChosen(next)
  }
  return (
    <div class="stack">
      <p class="hint">{text.quarantine.lead}</p>
      <PlacesMap label={text.quarantine.map} places={places} />
      {canChange && (
        <CheckField
          label={text.quarantine.selectAll}
          isChecked={selected.length === items.length}
          onChange={(isAll) => setChosen(new Set(isAll ? items.map(({ id }) => id) : []))}
        />
      )}
      <ul class="quarantined">
        {items.map((fix) => (
          <Entry
            key={fix.id}
            fix={fix}
            isSelected={chosen.has(fix.id)}
            onSelect={canChange ? (isChosen) => choose(fix.id, isChosen) : null}
          />
        ))}
      </ul>
      {hasMore && (
        <Button isPending={isPending} onClick={loadMore}>
          {text.common.loadMore}
        </Button>
      )}
      {canChange && (
        <Actions device={device} pages={pages} selected={selected} onDone={onReleased} />
      )}
    </div>
  )
}

/** Positions of a device that cannot be true, to release or to discard. */
export const Quarantine = ({ device, onReleased }: { device: Device; onReleased: () => void }) => {
  const pages = usePages<Fix>(
    async (cursor, signal) => {
      const reply = await call('GET /api/devices/{deviceId}/quarantine', {
        params: { deviceId: device.id },
        query: { cursor, limit: PAGE_SIZE },
        signal,
      })
      return { items: reply.quarantine, nextCursor: reply.nextCursor }
    },
    // Something has arrived, which may be in quarantine.
    [device.id, device.lastContact],
  )
  const { items, error, isPending, reload } = pages
  return (
    <Card title={text.quarantine.title}>
      {error && <Failed error={error} onRetry={reload} />}
      {isPending && items.length === 0 && <Skeleton rows={2} />}
      {!isPending && !error && items.length === 0 && <p class="muted">{text.quarantine.empty}</p>}
      {items.length > 0 && <List device={device} pages={pages} onReleased={onReleased} />}
    </Card>
  )
}
