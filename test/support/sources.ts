import { exports } from 'cloudflare:workers'
import type { TestAccount } from './accounts.ts'

export interface TestSource {
  id: string
  url: string
  /** Sends a push to the source's address. */
  push: (request?: { query?: string; body?: string; contentType?: string }) => Promise<Response>
}

const ORIGIN = 'https://perigee.test'

export const sendPush = (
  url: string,
  { query = '', body, contentType }: { query?: string; body?: string; contentType?: string } = {},
): Promise<Response> =>
  exports.default.fetch(`${ORIGIN}${new URL(url).pathname}${query}`, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body }),
    headers: { ...(contentType && { 'Content-Type': contentType }) },
  })

export const makeSource = async (
  account: TestAccount,
  provider: string,
  members: object = {},
): Promise<TestSource> => {
  const { status, body } = await account.call('POST', '/api/sources', {
    body: { name: 'Test', provider, ...members },
  })
  if (status !== 201) throw new Error(`no source: ${JSON.stringify(body)}`)
  const { source, url } = body
  return { id: source.id, url, push: (request) => sendPush(url, request) }
}

/** A Garmin push of events of one device. */
export const garminPush = (events: object[]): { body: string; contentType: string } => ({
  contentType: 'application/json',
  body: JSON.stringify({ Version: '2.0', Events: events }),
})

export const garminEvent = (imei: string, timeStamp: number, changes: object = {}) => ({
  imei,
  messageCode: 0,
  timeStamp,
  point: { latitude: 43.8, longitude: -70.16, altitude: 45, gpsFix: 2, course: 45, speed: 50 },
  status: { lowBattery: 0 },
  ...changes,
})
