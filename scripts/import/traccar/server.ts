/* The REST API of a Traccar server, as far as an import reads it. */

export interface TraccarDevice {
  id: number
  name: string
  uniqueId: string
  groupId?: number
  phone?: string | null
  model?: string | null
  contact?: string | null
  category?: string | null
}
export interface TraccarGroup {
  id: number
  name: string
  /** The group that it is in. */
  groupId?: number
}
export interface TraccarUser {
  name?: string
  email: string
  phone?: string | null
  administrator?: boolean
  readonly?: boolean
  disabled?: boolean
  expirationTime?: string | null
}
export interface TraccarGeofence {
  id: number
  name: string
  description?: string | null
  area: string
}
export interface TraccarPosition {
  protocol?: string
  fixTime: string
  serverTime: string
  valid?: boolean
  latitude: number
  longitude: number
  altitude?: number
  /** In knots. */
  speed?: number
  course?: number
  accuracy?: number
  attributes?: Record<string, unknown>
}

const ALL = { all: 'true' }
const DAY_MS = 86_400_000
/** A server answers a month of positions at a time. */
const SPAN_MS = 30 * DAY_MS

export class TraccarServer {
  readonly #address: string
  readonly #authorization: string

  /** The token of a user, or `e-mail:password`. */
  constructor(address: string, token: string) {
    this.#address = address.replace(/\/+$/, '')
    this.#authorization = token.includes(':')
      ? `Basic ${Buffer.from(token).toString('base64')}`
      : `Bearer ${token}`
  }

  async #get<T>(path: string, query: Record<string, string> = {}): Promise<T[]> {
    const url = new URL(`${this.#address}/api/${path}?${new URLSearchParams(query)}`)
    const headers = { Authorization: this.#authorization, Accept: 'application/json' }
    const response = await fetch(url, { headers })
    if (response.ok) return (await response.json()) as T[]
    throw new Error(
      `Traccar answered ${response.status} to /api/${path}. An import needs a user who is administrator.`,
    )
  }

  devices = () => this.#get<TraccarDevice>('devices', ALL)
  groups = () => this.#get<TraccarGroup>('groups', ALL)
  users = () => this.#get<TraccarUser>('users')
  geofences = () => this.#get<TraccarGeofence>('geofences', ALL)

  /** The positions of a device by their time, in pages. */
  async *positions(deviceId: number, from: number, to: number): AsyncGenerator<TraccarPosition[]> {
    for (let start = from; start < to; start += SPAN_MS) {
      const end = Math.min(start + SPAN_MS, to)
      const span = { from: new Date(start).toISOString(), to: new Date(end).toISOString() }
      const found = await this.#get<TraccarPosition>('positions', {
        deviceId: String(deviceId),
        ...span,
      })
      yield found.sort((a, b) => Date.parse(a.fixTime) - Date.parse(b.fixTime))
    }
  }
}
