import * as z from 'zod'
import type { account as accountSchema } from '../account/contract.ts'
import type { alert as alertSchema } from '../alerts/schemas.ts'
import type { usage as usageSchema } from '../usage/contract.ts'
import type { Api } from './api.ts'
import {
  type DevicePage,
  deviceArgument,
  findDevice,
  labelOf,
  toPosition,
  toRow,
} from './devices.ts'
import { defineTool } from './tool.ts'
import { trackTools } from './trackTools.ts'

export type Alert = z.output<typeof alertSchema>

export const limit = z.int().min(1).max(50).default(20).describe('The greatest number of rows.')
const cursor = z.string().max(500).optional().describe('`nextCursor` of the result before.')
const time = (about: string) => z.string().max(40).optional().describe(`${about} (ISO 8601).`)
const day = (about: string) => z.string().max(10).optional().describe(`${about} (YYYY-MM-DD).`)

export const toAlertRow = (alert: Alert) => {
  const { id, deviceId, dateTime, latitude, longitude, place, text, alerts, emergency } = alert
  const { test, state, acknowledgedAt, resolvedAt, cancelledAt } = alert
  const position = { latitude, longitude, place }
  const steps = { state, acknowledgedAt, resolvedAt, cancelledAt }
  return { id, deviceId, name: alerts[0], text, dateTime, ...position, emergency, test, ...steps }
}

const count = (rows: unknown[], one: string): string =>
  `${rows.length} ${rows.length === 1 ? one : `${one}s`}.`

/** How many events before the last one are looked through. */
const EVENT_WINDOW = 500

interface Events {
  events: { sequence: number; type: string; time: string; data: object }[]
  lastSequence: number
  nextCursor: string | null
}

/** A page looks through some thousand events, and may have none that match. */
const MAX_PAGES = 5

type Query = Record<string, string | number | undefined>
const readPage = (api: Api, query: Query) => api<Events>('GET', '/api/events', { query })

const readLatest = async (api: Api, query: Query): Promise<Events> => {
  const { lastSequence } = await readPage(api, { limit: 1 })
  const after = Math.max(0, lastSequence - EVENT_WINDOW)
  return { ...(await readPage(api, { ...query, after, limit: EVENT_WINDOW })), lastSequence }
}

const readOn = async (api: Api, query: Query): Promise<Events> => {
  let page = await readPage(api, query)
  for (let pages = 1; page.events.length === 0 && page.nextCursor && pages < MAX_PAGES; pages++)
    page = await readPage(api, { ...query, cursor: page.nextCursor })
  return page
}

export const readingTools = [
  defineTool({
    name: 'find_devices',
    title: 'Find devices',
    description:
      'Lists devices with their state, license end and last position. Without arguments, all of them, by name.',
    scope: 'read',
    input: z.strictObject({
      search: z.string().max(100).optional().describe('A part of the name or the identifier.'),
      state: z.enum(['active', 'expired']).optional(),
      limit,
      cursor,
    }),
    run: async (api, { search: contains, ...query }) => {
      const page = await api<DevicePage>('GET', '/api/devices', { query: { ...query, contains } })
      const rows = page.devices.map(toRow)
      return { summary: count(rows, 'device'), rows, nextCursor: page.nextCursor }
    },
  }),
  defineTool({
    name: 'where_is',
    title: 'Where is a device?',
    description: 'The last known position of a device, its place in words, and how old it is.',
    scope: 'read',
    input: z.strictObject({ device: deviceArgument }),
    run: async (api, input) => {
      const device = await findDevice(api, input.device)
      const { lastLocation, lastContact, state } = device
      const label = labelOf(device)
      if (!lastLocation)
        return {
          summary: `${label} has not reported a position yet.`,
          data: { lastContact, state },
        }
      const { latitude, longitude, dateTime } = lastLocation
      const query = { latitude, longitude }
      const { place } = await api<{ place: string | null }>('GET', '/api/place', { query })
      const minutes = Math.max(0, Math.round((Date.now() - Date.parse(dateTime)) / 60_000))
      return {
        summary: `${label} was ${place ?? 'at the position below'} ${minutes} minutes ago.`,
        data: { ...toPosition(lastLocation), place, lastContact, state },
      }
    },
  }),
  ...trackTools,
  defineTool({
    name: 'list_alerts',
    title: 'List alerts',
    description: 'Alerts of the account or of one device, the newest first.',
    scope: 'read',
    input: z.strictObject({
      device: deviceArgument.optional(),
      state: z.enum(['open', 'acknowledged', 'resolved', 'cancelled']).optional(),
      emergency: z.boolean().optional().describe('Only emergencies, or only other alerts.'),
      from: time('Not before'),
      to: time('Not after'),
      limit,
      cursor,
    }),
    run: async (api, { device, ...filters }) => {
      const found = device === undefined ? null : await findDevice(api, device)
      const path = found ? `/api/devices/${found.id}/alerts` : '/api/alerts'
      const query = { ...filters, sort: '-dateTime' }
      const page = await api<{ alerts: Alert[]; nextCursor: string | null }>('GET', path, { query })
      const rows = page.alerts.map(toAlertRow)
      return { summary: count(rows, 'alert'), rows, nextCursor: page.nextCursor }
    },
  }),
  defineTool({
    name: 'license_status',
    title: 'Licenses',
    description: 'How many licenses the account has, uses and has left. An active device uses one.',
    scope: 'read',
    input: z.strictObject({}),
    run: async (api) => {
      const { account } = await api<{ account: z.output<typeof accountSchema> }>(
        'GET',
        '/api/account',
      )
      const { name, licenses, status, timeZone } = account
      return {
        summary: `“${name}” uses ${licenses.used} of ${licenses.total} licenses; ${licenses.available} are free.`,
        data: { licenses, status, timeZone },
      }
    },
  }),
  defineTool({
    name: 'read_usage',
    title: 'Usage',
    description:
      'License-days, locations, messages, storage and requests of the account in a span of days, by default this month so far.',
    scope: 'read',
    input: z.strictObject({ from: day('The first day'), to: day('The last day') }),
    run: async (api, span) => {
      const query = { ...span, format: 'json' }
      const reply = await api<z.output<typeof usageSchema> & { success: boolean }>(
        'GET',
        '/api/account/usage',
        { query },
      )
      const { success: _, ...usage } = reply
      return { summary: `Usage from ${usage.from} to ${usage.to}.`, data: usage }
    },
  }),
  defineTool({
    name: 'recent_events',
    title: 'Recent events',
    description: `What happened lately: devices created or expired, alerts, zones entered, licenses. Of the last ${EVENT_WINDOW} events of the account the newest that match, or those after a sequence number.`,
    scope: 'read',
    input: z.strictObject({
      types: z
        .string()
        .max(500)
        .optional()
        .describe('Event types separated by commas, such as alert.*,device.expired.'),
      device: deviceArgument.optional(),
      after: z
        .int()
        .min(0)
        .optional()
        .describe('Only events with a greater sequence: that of the last row seen, to go on.'),
      limit,
      cursor,
    }),
    run: async (api, { types, device, after, limit: max, cursor: from }) => {
      const devices = device === undefined ? undefined : (await findDevice(api, device)).id
      const isLatest = after === undefined && from === undefined
      const read = isLatest ? readLatest : readOn
      const found = await read(api, { types, devices, after, limit: max, cursor: from })
      const rows = found.events
        .slice(-max)
        .map(({ sequence, type, time: at, data }) => ({ sequence, type, time: at, data }))
      const summary = count(rows, 'event')
      const { lastSequence, nextCursor } = found
      if (isLatest) return { summary, data: { lastSequence }, rows, keepsEnd: true }
      // Whoever goes on after a sequence must miss none: the oldest come first.
      if (nextCursor === null) return { summary, data: { lastSequence }, rows }
      return {
        summary: `${summary} There may be more: ask again with nextCursor.`,
        rows,
        nextCursor,
      }
    },
  }),
]
