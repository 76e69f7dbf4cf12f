import { useMemo } from 'preact/hooks'
import { fold } from '../../../format/fold.ts'
import { formatSpeed } from '../../../format/units.ts'
import { place, setQuery } from '../../../router/router.ts'
import { session } from '../../../session/session.ts'
import { text } from '../../../text/text.ts'
import { LinkButton } from '../../../ui/Button.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { VirtualList } from '../../../ui/list/VirtualList.tsx'
import { Empty, Failed, Skeleton } from '../../../ui/states.tsx'
import { Time } from '../../../ui/Time.tsx'
import { mapHref } from '../mapHref.ts'
import type { DeviceState } from './deviceState.ts'
import { fleet, isLoading, loadError, type Member, reloadFleet } from './fleet.ts'
import { StateDot } from './StateDot.tsx'

const ROW_PX = 62
const FILTERS = ['fresh', 'quiet', 'silent', 'expired'] as const
type Filter = (typeof FILTERS)[number]

const matchesState = (state: DeviceState, filter: string): boolean =>
  filter === '' ||
  state === filter ||
  (filter === 'silent' && state === 'none') ||
  // An emergency is never filtered away.
  state === 'emergency'

/** As `contains` of the API. */
const matchesSearch = ({ device }: Member, search: string): boolean =>
  search === '' || [device.name, device.identifier ?? ''].some((one) => fold(one).includes(search))

/** Made once: 10,000 names are sorted with every report. */
const { compare: byName } = new Intl.Collator()

const URGENCY: Record<DeviceState, number> = {
  emergency: 0,
  fresh: 1,
  quiet: 1,
  silent: 1,
  none: 1,
  expired: 2,
}

const Row = ({ member, isSelected }: { member: Member; isSelected: boolean }) => {
  const { device, state } = member
  const { lastLocation } = device
  return (
    <a
      class="fleet-row"
      href={mapHref(`/map/${device.id}`)}
      aria-current={isSelected ? 'true' : undefined}
    >
      <StateDot state={state} />
      <span class="fleet-names">
        <b>{device.name}</b>
        <span>{device.model || device.identifier || '–'}</span>
      </span>
      <span class="fleet-figures">
        {lastLocation ? <Time value={lastLocation.dateTime} isRelative /> : <span>–</span>}
        {lastLocation?.speed !== undefined && <span>{formatSpeed(lastLocation.speed)}</span>}
      </span>
    </a>
  )
}

/** The devices beside the map: the same fleet, for reading, searching and the keyboard. */
export const FleetList = ({ selectedId }: { selectedId: string | null }) => {
  const { query } = place.value
  const search = query.get('q') ?? ''
  const filter = (query.get('state') ?? '') as Filter | ''
  const all = fleet.value
  const members = useMemo(
    () =>
      all
        .filter((member) => matchesState(member.state, filter))
        .filter((member) => matchesSearch(member, fold(search.trim())))
        .sort(
          (a, b) => URGENCY[a.state] - URGENCY[b.state] || byName(a.device.name, b.device.name),
        ),
    [all, filter, search],
  )
  const counts = useMemo(() => {
    const found: Partial<Record<DeviceState, number>> = {}
    for (const { state } of all) {
      // As the filter has it.
      const shown = state === 'none' ? 'silent' : state
      found[shown] = (found[shown] ?? 0) + 1
    }
    return found
  }, [all])
  return (
    <section class="fleet" aria-label={text.map.list}>
      <div class="fleet-head">
        <div class="search">
          <Icon name="search" size={16} />
          <input
            class="input"
            type="search"
            aria-label={text.map.search}
            placeholder={text.common.search}
            value={search}
            onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
          />
        </div>
        <fieldset class="chips">
          <legend class="visually-hidden">{text.map.filterLabel}</legend>
          <button
            type="button"
            aria-pressed={filter === ''}
            onClick={() => setQuery({ state: null })}
          >
            {text.map.allStates}
          </button>
          {FILTERS.map((state) => (
            <button
              key={state}
              type="button"
              aria-pressed={filter === state}
              title={text.deviceStates[state]}
              onClick={() => setQuery({ state: filter === state ? null : state })}
            >
              <span class={`dot ${state}`} aria-hidden="true" />
              {text.map.states[state]}
              <span class="chip-count">{counts[state] ?? 0}</span>
            </button>
          ))}
        </fieldset>
        <p class="fleet-count" role="status">
          {isLoading.value && all.length > 0
            ? text.map.loadingMore(all.length)
            : text.map.shown(members.length, all.length)}
        </p>
      </div>
      {all.length === 0 && isLoading.value && <Skeleton rows={9} />}
      {loadError.value && <Failed error={loadError.value} onRetry={reloadFleet} />}
      {all.length === 0 && !isLoading.value && !loadError.value && (
        <Empty
          icon="device"
          title={text.map.emptyTitle}
          action={
            session.can('write') && (
              <LinkButton kind="primary" icon="plus" href="/devices/new">
                {text.map.createFirst}
              </LinkButton>
            )
          }
        >
          {text.map.empty}
        </Empty>
      )}
      {all.length > 0 && members.length === 0 && (
        <Empty icon="search" title={text.map.noMatchTitle}>
          {text.map.noMatch}
        </Empty>
      )}
      {members.length > 0 && (
        <VirtualList
          label={text.map.list}
          items={members}
          rowPx={ROW_PX}
          itemKey={({ device }) => device.id}
          row={(member) => <Row member={member} isSelected={member.device.id === selectedId} />}
        />
      )}
    </section>
  )
}
