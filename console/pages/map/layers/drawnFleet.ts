import type { GeoJSONSourceDiff } from 'maplibre-gl'

/*
 * What of the fleet is on the map. Sending all of 10,000 devices to MapLibre's worker with each
 * report would cost more than drawing them, so only what changed is sent.
 */

/** Above this share of the fleet, sending all of it is cheaper. */
const MAX_SHARE = 0.3

interface Drawable {
  device: { id: string }
  state: string
}

export type FleetChange =
  | { kind: 'none' }
  | { kind: 'all'; features: GeoJSON.Feature[] }
  | { kind: 'some'; diff: GeoJSONSourceDiff }

export class DrawnFleet<Member extends Drawable> {
  #members: ReadonlyMap<string, Member> = new Map()
  #ids = new Set<string>()
  readonly #featureOf: (member: Member) => GeoJSON.Feature | null

  constructor(featureOf: (member: Member) => GeoJSON.Feature | null) {
    this.#featureOf = featureOf
  }

  /** How many devices have a place on the map. */
  get size(): number {
    return this.#ids.size
  }

  /** What must be sent, so that these members are drawn. */
  change(members: readonly Member[]): FleetChange {
    const before = this.#members
    const next = new Map(members.map((member) => [member.device.id, member]))
    this.#members = next
    const changed = members.filter((member) => !isSame(before.get(member.device.id), member))
    const gone = [...before.keys()].filter((id) => !next.has(id))
    const count = changed.length + gone.length
    if (count === 0) return { kind: 'none' }
    if (count > MAX_SHARE * members.length) return this.#replaceAll(members)
    const remove = gone.filter((id) => this.#ids.delete(id))
    const add: GeoJSON.Feature[] = []
    for (const member of changed) {
      const { id } = member.device
      const feature = this.#featureOf(member)
      if (feature) {
        this.#ids.add(id)
        add.push(feature)
      } else if (this.#ids.delete(id)) remove.push(id)
    }
    return { kind: 'some', diff: { add, remove } }
  }

  #replaceAll(members: readonly Member[]): FleetChange {
    const features = members.flatMap((member) => this.#featureOf(member) ?? [])
    this.#ids = new Set(features.map(({ properties }) => String(properties?.id)))
    return { kind: 'all', features }
  }
}

/** Devices are replaced when they change, never altered. */
const isSame = (before: Drawable | undefined, after: Drawable): boolean =>
  before?.device === after.device && before.state === after.state
