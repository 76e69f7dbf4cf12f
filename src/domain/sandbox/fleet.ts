import {
  DEFAULT_DAILY_LIMITS,
  DEFAULT_MAX_SPEED,
  type DeviceRecord,
  NO_RESERVE,
} from '../account/device.ts'
import { ROUTES } from './routes.ts'
import type { Kind, Pace, Route, Traveller } from './travel.ts'

/* The simulated devices of a sandbox. The demo has more of the same kinds. */

export const PACES: Record<Kind, Pace> = {
  ship: { kmh: 32, hours: 24, pauseHours: 14, everyMinutes: 20, swayKm: 2 },
  boat: { kmh: 17, hours: 24, pauseHours: 9, everyMinutes: 20, swayKm: 1.5 },
  truck: { kmh: 74, hours: 16, pauseHours: 5, everyMinutes: 10, swayKm: 0.8 },
  aircraft: { kmh: 430, hours: 24, pauseHours: 2.5, everyMinutes: 6, swayKm: 0 },
  team: { kmh: 3.2, hours: 9, pauseHours: 2, everyMinutes: 20, swayKm: 0.1 },
  buoy: { kmh: 1.4, hours: 24, pauseHours: 0, everyMinutes: 60, swayKm: 0.4 },
}

interface Simulated extends Omit<Traveller, 'epoch'> {
  name: string
  /** By it the simulation finds its device: one that has another is left alone. */
  identifier: string
}

/** All report at the same times, so that a sandbox costs one write every few minutes. */
const EVERY_MINUTES = 5

const MEMBERS: (Pick<Traveller, 'kind' | 'ahead'> & {
  name: string
  route: Route
  kmh?: number
})[] = [
  { name: 'Tern 7', kind: 'ship', route: ROUTES.azores, ahead: 12 },
  { name: 'Storm Petrel', kind: 'ship', route: ROUTES.canaries, ahead: 6 },
  { name: 'Atlântida', kind: 'ship', route: ROUTES.northSea, ahead: 1 },
  { name: 'Gannet', kind: 'boat', route: ROUTES.galicia, ahead: 10 },
  { name: 'Truck 12', kind: 'truck', route: ROUTES.madrid, ahead: 2 },
  { name: 'Truck 15', kind: 'truck', route: ROUTES.bilbao, ahead: 4 },
  { name: 'Truck 24', kind: 'truck', route: ROUTES.warsaw, ahead: 3 },
  { name: 'CS-DVP', kind: 'aircraft', route: ROUTES.madeira, ahead: 0.9 },
  { name: 'Field team north', kind: 'team', route: ROUTES.geres, ahead: 1.5 },
  { name: 'Drifter 04', kind: 'buoy', route: ROUTES.gyre, ahead: 30 },
]

export const SANDBOX_FLEET: readonly Simulated[] = MEMBERS.map((one, index) => ({
  ...PACES[one.kind],
  ...one,
  name: `${one.name} (sandbox)`,
  identifier: `sandbox-${String(index + 1).padStart(2, '0')}`,
  everyMinutes: EVERY_MINUTES,
}))

/** The device as it is created. */
export const recordOf = ({ name, identifier, kind }: Simulated): DeviceRecord => ({
  name,
  description: 'Simulated: it moves along a route of the demo.',
  min: '',
  identifier,
  model: 'Simulation',
  tags: { kind, sandbox: 'true' },
  limits: {
    expires: false,
    expirationDate: null,
    ...DEFAULT_DAILY_LIMITS,
    emergencyReserve: NO_RESERVE,
  },
  maxSpeed: DEFAULT_MAX_SPEED,
})
