import type { Perigee, PerigeeError } from '../../src/index.ts'
import { numberOf } from '../arguments.ts'
import type { Command } from '../command.ts'
import { EXIT, usageFailure } from '../failure.ts'
import { findDevice } from '../session.ts'
import { note, writeJson, writeLine } from '../terminal/output.ts'
import { toLine } from '../terminal/text.ts'

interface Event {
  type: string
  time: string
  sequence: number
  data: Record<string, unknown>
}

/** A connection lost so long after the last time, without events between, is another outage. */
const OUTAGE_MS = 300_000
const TYPE_WIDTH = 18
const NAME_WIDTH = 20

const places = (latitude: unknown, longitude: unknown): string =>
  typeof latitude === 'number' && typeof longitude === 'number'
    ? `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`
    : ''

const HIDDEN = new Set(['deviceId', 'name', 'latitude', 'longitude', 'location', 'positionTime'])

/** The event in words: its position, and what else is short. */
export const describeEvent = ({ data }: Event): string => {
  const location = (data.location ?? data) as Record<string, unknown>
  const members = Object.entries(data)
    .filter(
      ([name, value]) =>
        !HIDDEN.has(name) && ['string', 'number', 'boolean'].includes(typeof value),
    )
    .map(([name, value]) => `${name}=${value}`)
  const speed = typeof location.speed === 'number' ? `${location.speed} km/h` : ''
  return [places(location.latitude, location.longitude), speed, ...members]
    .filter(Boolean)
    .join('  ')
}

/** Names of devices, each read once. One that is gone keeps its id. */
class DeviceNames {
  readonly #perigee: Perigee
  readonly #names = new Map<string, string>()

  constructor(perigee: Perigee) {
    this.#perigee = perigee
  }

  async nameOf({ data }: Event, signal: AbortSignal): Promise<string> {
    const { deviceId, name } = data
    if (typeof deviceId !== 'string') return ''
    if (typeof name === 'string') this.#names.set(deviceId, name)
    const known = this.#names.get(deviceId)
    if (known !== undefined) return known
    const path = { deviceId }
    const read = await this.#perigee
      .get('/api/devices/{deviceId}', { path, signal })
      .then(({ device }) => device.name)
      .catch(() => deviceId)
    this.#names.set(deviceId, read)
    return read
  }
}

/** Notes an outage once, although the stream tells of every attempt. */
class OutageNotes {
  #failedAt = Number.NEGATIVE_INFINITY

  readonly failed = ({ message }: PerigeeError): void => {
    const isNew = Date.now() - this.#failedAt > OUTAGE_MS
    this.#failedAt = Date.now()
    if (isNew) note(`The connection is lost and will be opened again. ${message}`)
  }

  end(): void {
    this.#failedAt = Number.NEGATIVE_INFINITY
  }
}

const listOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : []).flatMap((text) => String(text).split(','))

export const tail: Command = {
  name: 'tail',
  summary: 'Show events as they happen.',
  usage: ['tail [DEVICE …] [--type TYPE …] [--after SEQUENCE]'],
  maxPositionals: Number.POSITIVE_INFINITY,
  options: {
    type: {
      type: 'string',
      multiple: true,
      value: 'TYPE',
      about: 'Only these, such as alert.* or location.reported.',
    },
    after: {
      type: 'string',
      value: 'SEQUENCE',
      about: 'Begin after this event; 0 shows all that are stored.',
    },
  },
  details: [
    'It goes on until Ctrl-C, over lost connections too: no event is missed or repeated. If events',
    'are no longer stored, a note on stderr says which.',
  ],
  run: async ({ values, positionals, isJson, signal, open }) => {
    const after = numberOf(values, 'after')
    if (after !== undefined && !(Number.isInteger(after) && after >= 0))
      throw usageFailure('--after must be a whole number.')
    const perigee = await open()
    const devices: string[] = []
    for (const given of positionals) devices.push((await findDevice(perigee, given, signal)).id)
    const types = listOf(values.type)
    // The stream waits for an outage to end; at the start it is an error.
    const query = {
      ...(types.length > 0 && { types: types.join() }),
      ...(devices.length > 0 && { devices: devices.join() }),
      limit: 1,
    }
    await perigee.get('/api/events', { query, signal })
    const names = new DeviceNames(perigee)
    const outages = new OutageNotes()
    if (typeof WebSocket === 'undefined' && types.length === 0)
      note('No locations are shown: this Node has no WebSocket. Use Node 22 or newer for them.')
    if (!isJson && process.stderr.isTTY) note('Waiting for events. Ctrl-C ends.')
    const events = perigee.stream({
      ...(types.length > 0 && { types }),
      ...(devices.length > 0 && { devices }),
      ...(after !== undefined && { after }),
      onDisconnect: outages.failed,
      onGap: ({ after, oldest }) =>
        note(`The events ${after + 1} to ${oldest - 1} are no longer stored.`),
      signal,
    })
    for await (const event of events as AsyncIterable<Event>) {
      outages.end()
      if (isJson) {
        await writeJson(event)
        continue
      }
      const name = await names.nameOf(event, signal)
      const time = event.time.slice(0, 19).replace('T', ' ')
      await writeLine(
        toLine(
          `${time}  ${event.type.padEnd(TYPE_WIDTH)}  ${name.padEnd(NAME_WIDTH)}  ${describeEvent(event)}`,
        ).trimEnd(),
      )
    }
    return EXIT.ok
  },
}
