import { useEffect, useMemo, useState } from 'preact/hooks'
import { call } from '../../../api/client.ts'
import type { Pages } from '../../../api/resource.ts'
import type { ClaimIdentifierReply } from '../../../api/types.ts'
import { formatNumber, formatPosition } from '../../../format/units.ts'
import { later } from '../../../text/later.ts'
import { text } from '../../../text/text.ts'
import { Button } from '../../../ui/Button.tsx'
import { ConfirmButton } from '../../../ui/dialog/ConfirmButton.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { type Column, Table } from '../../../ui/list/Table.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/Time.tsx'
import { toast } from '../../../ui/toast.tsx'
import { type NamedPlace, PlacesMap } from '../../map/MapFrame.tsx'
import type { Unclaimed } from '../sourceLists.ts'
import { ClaimDialog } from './ClaimDialog.tsx'

interface UnclaimedListProps {
  sourceId: string
  pages: Pages<Unclaimed>
  dropped: number
  onReload: () => void
}

const placesOf = (items: readonly Unclaimed[]): NamedPlace[] =>
  items.flatMap(({ identifier, lastLocation }) => {
    if (!lastLocation) return []
    const { latitude, longitude } = lastLocation
    return [{ id: identifier, name: identifier, latitude, longitude, state: 'quiet' }]
  })

type PendingClaims = ReadonlyMap<string, Pick<ClaimIdentifierReply, 'device' | 'pending'>>

/** Claimed identifiers whose reports are still being moved. */
const PendingClaimList = ({
  claims,
  items,
}: {
  claims: PendingClaims
  items: readonly Unclaimed[]
}) => (
  <>
    {[...claims].map(([identifier, { device, pending }]) => (
      <p key={identifier} class="note" role="status">
        <Icon name="clock" />
        <span>
          {later.unclaimed.pending(
            identifier,
            items.find((one) => one.identifier === identifier)?.count ?? pending,
          )}{' '}
          <a href={`/devices/${device.id}`}>{device.name}</a>.{' '}
          {device.state === 'expired' && later.unclaimed.pendingExpired}
        </span>
      </p>
    ))}
  </>
)

/** Follows the reports of claimed identifiers until the source holds none of them any more. */
const usePendingClaims = (pages: Pages<Unclaimed>) => {
  const [claims, setClaims] = useState<PendingClaims>(new Map())
  useEffect(() => {
    if (pages.isPending || pages.hasMore) return
    const done = [...claims.keys()].filter(
      (identifier) => !pages.items.some((one) => one.identifier === identifier),
    )
    if (done.length === 0) return
    for (const identifier of done) toast(later.unclaimed.moved(identifier))
    setClaims(new Map([...claims].filter(([identifier]) => !done.includes(identifier))))
  }, [pages.items, pages.isPending, claims])
  const addClaim = (identifier: string, reply: ClaimIdentifierReply) =>
    setClaims((before) => new Map([...before, [identifier, reply]]))
  return { claims, addClaim }
}

export const UnclaimedList = ({ sourceId, pages, dropped, onReload }: UnclaimedListProps) => {
  const [claimed, setClaimed] = useState<Unclaimed | null>(null)
  const { claims, addClaim } = usePendingClaims(pages)
  const places = useMemo(() => placesOf(pages.items), [pages.items])
  const removeRow = (identifier: string) =>
    pages.set((items) => items.filter((one) => one.identifier !== identifier))
  const discard = async ({ identifier }: Unclaimed) => {
    const params = { sourceId, identifier }
    await call('DELETE /api/sources/{sourceId}/unclaimed/{identifier}', { params })
    toast(later.unclaimed.deleted(identifier))
    removeRow(identifier)
  }
  const onClaimed = (identifier: string, reply: ClaimIdentifierReply) => {
    setClaimed(null)
    toast(later.unclaimed.claimed(reply.device.name, reply.imported))
    if (reply.pending > 0) addClaim(identifier, reply)
    else removeRow(identifier)
  }
  const columns: readonly Column<Unclaimed>[] = [
    {
      key: 'identifier',
      label: later.unclaimed.identifier,
      cell: ({ identifier }) => <code>{identifier}</code>,
    },
    {
      key: 'count',
      label: later.unclaimed.count,
      cell: ({ count }) => formatNumber(count),
      isNumber: true,
    },
    {
      key: 'last',
      label: later.unclaimed.last,
      cell: ({ lastReceived }) => <Time value={lastReceived} isRelative />,
    },
    {
      key: 'first',
      label: later.unclaimed.first,
      cell: ({ firstReceived }) => <Time value={firstReceived} isRelative />,
      isMinor: true,
    },
    {
      key: 'position',
      label: later.unclaimed.position,
      cell: ({ lastLocation }) =>
        lastLocation ? (
          formatPosition(lastLocation.latitude, lastLocation.longitude)
        ) : (
          <span class="muted">{later.unclaimed.noPosition}</span>
        ),
    },
    {
      key: 'actions',
      label: text.common.actions,
      cell: (one) =>
        !claims.has(one.identifier) && (
          <span class="with-button">
            <Button size="small" icon="plus" onClick={() => setClaimed(one)}>
              {later.unclaimed.claim}
            </Button>
            <ConfirmButton
              size="small"
              kind="quiet"
              icon="trash"
              label={text.common.delete}
              title={later.unclaimed.deleteTitle(one.identifier)}
              question={later.unclaimed.deleteQuestion}
              confirmLabel={later.unclaimed.deleteConfirm}
              onConfirm={() => discard(one)}
            />
          </span>
        ),
    },
  ]
  return (
    <section class="stack">
      <header class="section-header">
        <div>
          <h2>{later.unclaimed.title}</h2>
          <p class="hint">{later.unclaimed.lead}</p>
        </div>
        <Button size="small" icon="refresh" onClick={onReload}>
          {text.common.reload}
        </Button>
      </header>
      {dropped > 0 && <p class="note">{later.unclaimed.dropped(dropped)}</p>}
      <PendingClaimList claims={claims} items={pages.items} />
      {places.length > 0 && <PlacesMap label={later.unclaimed.map} places={places} />}
      <Table
        label={later.unclaimed.title}
        columns={columns}
        pages={pages}
        rowKey={({ identifier }) => identifier}
        empty={
          <Empty icon="device" title={later.unclaimed.emptyTitle}>
            {later.unclaimed.empty}
          </Empty>
        }
      />
      {claimed && (
        <ClaimDialog
          sourceId={sourceId}
          identifier={claimed.identifier}
          onClose={() => setClaimed(null)}
          onClaimed={(reply) => onClaimed(claimed.identifier, reply)}
        />
      )}
    </section>
  )
}
