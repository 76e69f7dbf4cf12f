import type { CompiledZone } from '../domain/ruleSignal.ts'
import type { Zone } from '../domain/zone.ts'
import { compileShape } from '../domain/zoneGeometry.ts'

export const compileZone = ({ id, name, lastModified, shape }: Zone): CompiledZone => ({
  id,
  name,
  lastModified,
  shape: compileShape(shape),
})
