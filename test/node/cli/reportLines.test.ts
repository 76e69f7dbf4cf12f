import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LineSender } from '../../../clients/typescript/cli/reportLines.ts'
import { Perigee } from '../../../clients/typescript/src/perigee.ts'
import type { Report } from '../../../clients/typescript/src/reportSummary.ts'

const notes: string[] = []
beforeEach(() => {
  vi.useFakeTimers()
  notes.length = 0
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    notes.push(String(text))
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const report: Report = { identifier: 'a', dateTime: '2020-01-01Z', latitude: 1, longitude: 2 }
const counts = { duplicates: 0, conflicts: 0, tooOld: 0, unknown: 0, refused: 0, results: [] }

/** Sends lines to a service that replies after so long, and reads when all has ended. */
const sendLines = (lines: number, reply: (request: Request) => Promise<Response>) => {
  const perigee = new Perigee({ url: 'https://perigee.example', token: () => 't', fetch: reply })
  const sender = new LineSender(perigee, new AbortController().signal)
  const startedAt = Date.now()
  for (let line = 1; line <= lines; line++) void sender.add({ ...report }, line)
  const ended = sender.end().then(() => Date.now() - startedAt)
  return { sender, ended }
}

const never = ({ signal }: Request) =>
  new Promise<Response>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })

test('a service that does not reply is waited for a minute once stdin has ended', async () => {
  const { sender, ended } = sendLines(2, never)
  await vi.advanceTimersByTimeAsync(300_000)
  expect(await ended).toBe(60_000)
  expect(sender.failed.signal.reason).toMatchObject({ status: 0 })
  expect([notes, vi.getTimerCount()]).toEqual([['2 locations were not sent.\n'], 0])
})

test('an outage and replies of another service end after a minute too', async () => {
  for (const response of [() => Response.error(), () => Response.json({ success: true })]) {
    const { ended } = sendLines(1, async () => response())
    await vi.advanceTimersByTimeAsync(300_000)
    expect(await ended).toBe(60_000)
  }
  expect(notes.at(-1)).toBe('1 location was not sent.\n')
})

test('a service that is slow gets all lines', async () => {
  const { sender, ended } = sendLines(3500, async (request) => {
    const { locations } = (await request.json()) as { locations: Report[] }
    await new Promise((resolve) => setTimeout(resolve, 40_000))
    return Response.json({ success: true, accepted: locations.length, ...counts })
  })
  await vi.advanceTimersByTimeAsync(300_000)
  expect(await ended).toBe(200_000)
  expect([sender.counts.accepted, notes]).toEqual([3500, []])
})
