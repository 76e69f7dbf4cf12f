import { edgeWork } from '../../domain/geo/edgeDistance.ts'
import { borderDistance, isInside } from '../../domain/geo/zoneGeometry.ts'
import type { Fix } from '../../domain/track/fix.ts'
import type { CompiledZone, SignalValue } from './signals.ts'

interface Known {
  /** The fix that this is of. */
  fix: Fix
  isInside: boolean
  /** Metres to the border; Infinity beyond what any signal asks for, NaN before one has asked. */
  distance: number
}

/** Units of a zone beside those of its edges. */
const ZONE_UNITS = 0.5

/** Where a fix is in relation to zones: each zone is evaluated once for all signals. */
export class ZonesAtFix {
  /** The widest margin of the signals that ask. */
  readonly #maxMetres: number
  readonly #known = new Map<CompiledZone, Known>()
  /** What evaluating zones has cost so far, in the units of slices. */
  units = 0

  constructor(maxMetres: number) {
    this.#maxMetres = maxMetres
  }

  #find(zone: CompiledZone, fix: Fix): Known {
    const known = this.#known.get(zone)
    if (known?.fix === fix) return known
    const before = edgeWork.units
    const found = isInside(zone.shape, fix.latitude, fix.longitude)
    this.units += ZONE_UNITS + edgeWork.units - before
    if (known) return Object.assign(known, { fix, isInside: found, distance: Number.NaN })
    const created = { fix, isInside: found, distance: Number.NaN }
    this.#known.set(zone, created)
    return created
  }

  /** 1 in the zone; undecided where the border is nearer than `metres` or the fix's accuracy. */
  valueIn(zone: CompiledZone, fix: Fix, metres: number): SignalValue {
    const known = this.#find(zone, fix)
    const accuracy = fix.accuracy ?? 0
    const margin = Math.max(accuracy, metres)
    if (margin > 0 && Number.isNaN(known.distance)) {
      const before = edgeWork.units
      const limit = Math.max(accuracy, this.#maxMetres)
      known.distance = borderDistance(zone.shape, fix.latitude, fix.longitude, limit)
      this.units += ZONE_UNITS + edgeWork.units - before
    }
    if (margin > 0 && known.distance < margin) return null
    return known.isInside ? 1 : 0
  }
}
