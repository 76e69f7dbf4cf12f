import { useMemo, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { quarantineVersion } from '../../api/devices.ts'
import { useList } from '../../api/list.ts'
import type { Pages } from '../../api/resource.ts'
import type { Device, ListQuarantineReply } from '../../api/types.ts'
import { formatDateTime } from '../../format/time.ts'
import { formatPosition } from '../../format/units.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/dialog/ConfirmButton.tsx'
import { CheckField } from '../../ui/form/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { type NamedPlace, PlacesMap } from '../map/MapFrame.tsx'
import './conversation/conversation.css'

type Quarantined = ListQuarantineReply['quarantine'][number]

const PAGE_SIZE = 50

const placesOf = (
  positions: readonly Quarantined[],
  { id, lastLocation }: Device,
): NamedPlace[] => [
  ...(lastLocation
    ? [{ ...lastLocation, id, name: text.quarantine.lastAccepted, state: 'fresh' as const }]
    : []),
  ...positions.map((position) => ({
    ...position.location,
    id: position.id,
    name: formatDateTime(position.location.dateTime),
    state: 'quiet' as const,
  })),
]

interface EntryProps {
  position: Quarantined
  isSelected: boolean
  onSelect: ((isSelected: boolean) => void) | null
}

const Entry = ({
  position: { id, reason, location, receivedAt },
  isSelected,
  onSelect,
}: EntryProps) => (
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
  pages: Pages<Quarantined>
  selected: readonly string[]
  onDone: () => void
}

const Actions = ({ device, pages, selected, onDone }: ActionsProps) => {
  const options = { params: { deviceId: device.id }, body: { ids: [...selected] } }
  const finish = () => {
    pages.reload()
    onDone()
  }
  const isNone = selected.length === 0
  return (
    <>
      <div class="form-actions">
        <ActionButton
          icon="check"
          disabled={isNone}
          onAct={async () => {
            const reply = await call('POST /api/devices/{deviceId}/quarantine/release', options)
            const { released, conflicts } = reply
            if (released > 0) toast(text.quarantine.accepted(released))
            if (conflicts.length > 0) toast(text.quarantine.conflicts(conflicts.length), 'failed')
            finish()
          }}
        >
          {text.quarantine.accept}
        </ActionButton>
        <ConfirmButton
          icon="trash"
          kind="danger"
          disabled={isNone}
          label={text.quarantine.discard}
          title={text.quarantine.discardTitle(selected.length)}
          question={text.quarantine.discardQuestion}
          confirmLabel={text.quarantine.discard}
          onConfirm={async () => {
            const reply = await call('POST /api/devices/{deviceId}/quarantine/discard', options)
            toast(text.quarantine.discarded(reply.discarded))
            finish()
          }}
        />
      </div>
      <p class="hint" aria-live="polite">
        {isNone ? text.quarantine.acceptHint : text.quarantine.selected(selected.length)}
      </p>
    </>
  )
}

interface ListProps {
  device: Device
  pages: Pages<Quarantined>
  onAccepted: () => void
}

const List = ({ device, pages, onAccepted }: ListProps) => {
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
        {items.map((position) => (
          <Entry
            key={position.id}
            position={position}
            isSelected={chosen.has(position.id)}
            onSelect={canChange ? (isChosen) => choose(position.id, isChosen) : null}
          />
        ))}
      </ul>
      {hasMore && (
        <Button isPending={isPending} onClick={loadMore}>
          {text.common.loadMore}
        </Button>
      )}
      {canChange && (
        <Actions device={device} pages={pages} selected={selected} onDone={onAccepted} />
      )}
    </div>
  )
}

export const QUARANTINE_ID = 'quarantine'

/** Positions of a device that cannot be true, to accept or to discard. */
export const Quarantine = ({ device, onAccepted }: { device: Device; onAccepted: () => void }) => {
  const pages = useList('GET /api/devices/{deviceId}/quarantine', 'quarantine', {
    params: { deviceId: device.id },
    query: { limit: PAGE_SIZE },
    version: quarantineVersion(device),
  })
  const { items, error, isPending, reload } = pages
  return (
    <Card title={text.quarantine.title} id={QUARANTINE_ID}>
      {error && <Failed error={error} onRetry={reload} />}
      {isPending && items.length === 0 && <Skeleton rows={2} />}
      {!isPending && !error && items.length === 0 && <p class="muted">{text.quarantine.empty}</p>}
      {items.length > 0 && <List device={device} pages={pages} onAccepted={onAccepted} />}
    </Card>
  )
}
