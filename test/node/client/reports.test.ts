import { expect, onTestFinished, test, vi } from 'vitest'
import { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { Perigee } from '../../../clients/typescript/src/perigee.ts'
import type { Report } from '../../../clients/typescript/src/reportSummary.ts'
import { ReportQueue } from '../../../clients/typescript/src/reports.ts'

const report = (index: number, members: object = {}): Report => ({
  identifier: `tern-${index}`,
  dateTime: '2020-01-01T00:00:00Z',
  latitude: 1,
  longitude: 2,
  ...members,
})
const reports = (count: number) => Array.from({ length: count }, (_, index) => report(index))

/** A queue whose service takes what `check` does not refuse. */
const queueWith = (check: (batch: Report[]) => void = () => undefined, settings = {}) => {
  const batches: Report[][] = []
  const queue = new ReportQueue(async (batch) => {
    batches.push(batch)
    check(batch)
    const counts = { conflicts: 0, tooOld: 0, unknown: 0, refused: 0, duplicates: 0 }
    return { success: true, accepted: batch.length, ...counts, results: [] }
  }, settings)
  return { queue, batches }
}

test('batches have at most a thousand locations and one MiB', async () => {
  const { queue, batches } = queueWith()
  queue.add(reports(2500))
  expect((await queue.flush()).accepted).toBe(2500)
  expect(batches.map(({ length }) => length)).toEqual([1000, 1000, 500])
  const large = report(0, { attributes: { text: 'é'.repeat(100_000) } })
  queue.add(Array(12).fill(large))
  await queue.flush()
  const sizes = batches
    .slice(3)
    .map((locations) => Buffer.byteLength(JSON.stringify({ locations })))
  expect(sizes.length).toBeGreaterThan(1)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_048_576)
})

test('what could not be sent stays in its order, and is sent later', async () => {
  let isDown = true
  const errors: unknown[] = []
  const { queue, batches } = queueWith(
    () => {
      if (isDown) throw new PerigeeError('down')
    },
    { onReportError: (error: unknown) => errors.push(error) },
  )
  queue.add(reports(3))
  await expect(queue.flush()).rejects.toThrow('down')
  expect([queue.pending.length, errors.length]).toEqual([3, 1])
  isDown = false
  queue.add([report(3)])
  expect((await queue.flush()).accepted).toBe(4)
  expect(batches.slice(1).flat()).toEqual(reports(4))
  expect(queue.pending).toEqual([])
})

test('a location that refuses the call is left out, named by its place or not', async () => {
  for (const isNamed of [true, false]) {
    const { queue } = queueWith((batch) => {
      const at = batch.findIndex(({ latitude }) => latitude > 90)
      if (at < 0) return
      const pointer = isNamed ? `/locations/${at}/latitude` : '/locations'
      const errors = [{ pointer, detail: 'must be at most 90' }]
      const problem = { code: 'invalid-request', errors } as never
      throw new PerigeeError('not valid', { status: 400, problem })
    })
    queue.add([report(0), report(1, { latitude: 91 }), report(2)])
    const { accepted, invalid, results } = await queue.flush()
    expect([accepted, invalid, results.length, queue.pending.length]).toEqual([2, 1, 1, 0])
    expect(results[0]).toMatchObject({ status: 'invalid', report: { identifier: 'tern-1' } })
  }
})

const refusal = (status: number, code: string | null, pointer?: string) => {
  const errors = pointer === undefined ? [] : [{ pointer, detail: 'No.' }]
  const problem = code === null ? null : ({ code, detail: 'No.', errors } as never)
  return new PerigeeError('No.', { status, problem })
}

test.each([
  ['an unknown version', refusal(400, 'invalid-request', '#/header/Perigee-Version')],
  ['a proxy', refusal(400, null)],
  ['the token endpoint', refusal(400, 'invalid-request', '/userName')],
])('a 400 of %s does not throw away reports', async (_, error) => {
  let isRefusing = true
  const onReportError = vi.fn()
  const { queue } = queueWith(
    () => {
      if (isRefusing) throw error
    },
    { onReportError },
  )
  queue.add(reports(3))
  await expect(queue.flush()).rejects.toBe(error)
  expect([queue.pending, onReportError.mock.calls]).toEqual([reports(3), [[error]]])
  isRefusing = false
  expect(await queue.flush()).toMatchObject({ accepted: 3, invalid: 0, results: [] })
})

test('a 400 of the token call keeps the reports of the client', async () => {
  const onReportError = vi.fn()
  const perigee = new Perigee({
    url: 'https://perigee.example',
    userName: 'demo',
    apiKey: 'pgk',
    fetch: async () =>
      Response.json({ detail: 'No.', errors: [{ pointer: '/apiKey' }] }, { status: 400 }),
    onReportError,
  })
  perigee.report(report(0))
  await expect(perigee.flush()).rejects.toMatchObject({ status: 400 })
  expect([perigee.pending.length, onReportError.mock.calls.length]).toEqual([1, 1])
  perigee.stop()
})

test('a call that is too large is halved, and one location too large for a proxy is kept', async () => {
  for (const code of ['body-too-large', null]) {
    const { queue } = queueWith((batch) => {
      if (batch.length > 2 || batch.some(({ speed }) => speed)) throw refusal(413, code)
    })
    queue.add(reports(5))
    expect((await queue.flush()).accepted).toBe(5)
    queue.add([report(0, { speed: 1 })])
    if (code) expect((await queue.flush()).invalid).toBe(1)
    else await expect(queue.flush()).rejects.toMatchObject({ status: 413 })
    expect(queue.pending.length).toBe(code ? 0 : 1)
    queue.stop()
  }
})

test.each([undefined, {}, { success: true, accepted: 3 }])(
  'a reply that is not of the service keeps the reports: %o',
  async (reply) => {
    const send = vi.fn().mockResolvedValueOnce(reply)
    const queue = new ReportQueue(send, {})
    queue.add(reports(3))
    await expect(queue.flush()).rejects.toBeInstanceOf(PerigeeError)
    expect(queue.pending).toEqual(reports(3))
    queue.stop()
  },
)

test('batches shrink after calls without a reply, and grow again', async () => {
  let limit = 200
  const { queue, batches } = queueWith((batch) => {
    if (batch.length > limit) throw new PerigeeError('No reply in time.')
  })
  queue.add(reports(1000))
  for (const _ of [1000, 500, 250]) await expect(queue.flush()).rejects.toThrow('No reply in time.')
  limit = 1000
  await queue.flush()
  queue.add(reports(1000))
  await queue.flush()
  expect(batches.map(({ length }) => length)).toEqual([1000, 500, 250, 125, 250, 500, 125, 1000])
})

test('a batch that is too large for a proxy is not begun again with a thousand', async () => {
  const { queue, batches } = queueWith((batch) => {
    if (batch.length > 100) throw refusal(413, null)
  })
  queue.add(reports(1000))
  await queue.flush()
  expect(batches.filter(({ length }) => length > 200)).toHaveLength(3)
})

test('`stop` ends what is sent by itself, and `flush` still sends', async () => {
  const begun: (() => void)[] = []
  const sent: number[] = []
  const queue = new ReportQueue(
    async (batch) => {
      sent.push(batch.length)
      await new Promise<void>((resolve) => begun.push(resolve))
      const counts = { conflicts: 0, tooOld: 0, unknown: 0, refused: 0, duplicates: 0 }
      return { success: true, accepted: batch.length, ...counts, results: [] }
    },
    { reportDelayMs: 0 },
  )
  queue.add(reports(2500))
  await vi.waitFor(() => expect(sent).toEqual([1000]))
  queue.stop()
  begun.shift()?.()
  await vi.waitFor(() => expect(queue.pending.length).toBe(1500))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(sent).toEqual([1000])
  const flushed = queue.flush()
  for (const count of [2, 3]) {
    await vi.waitFor(() => expect(sent.length).toBe(count))
    begun.shift()?.()
  }
  expect([(await flushed).accepted, sent]).toEqual([2500, [1000, 1000, 500]])
})

test('reports of which one cannot be written as JSON are refused as a whole', () => {
  const { queue } = queueWith()
  expect(() => queue.add([report(0), report(1, { attributes: { large: 1n } })])).toThrow(TypeError)
  expect(queue.pending).toEqual([])
})

test('a queue that is full takes nothing more', () => {
  const { queue } = queueWith(undefined, { maxPending: 2 })
  expect(() => queue.add(reports(3))).toThrow(RangeError)
  expect(queue.pending).toEqual([])
})

/** A queue in fake time, whose replies the test gives, in any order. */
const slowQueue = (settings = {}) => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const calls: {
    batch: Report[]
    reply: (accepted?: number) => void
    fail: (error: unknown) => void
  }[] = []
  const counts = { conflicts: 0, tooOld: 0, unknown: 0, refused: 0, duplicates: 0 }
  const queue = new ReportQueue(
    (batch) =>
      new Promise((resolve, fail) => {
        const reply = (accepted = batch.length) =>
          resolve({ success: true, accepted, ...counts, results: [] })
        calls.push({ batch, reply, fail })
      }),
    settings,
  )
  return { queue, calls }
}
const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms)

test.each(['a reply', 'a failure', 'a refusal'])(
  'a flush after a send that never settles loses nothing, even if %s comes late',
  async (late) => {
    const onReportError = vi.fn()
    const { queue, calls } = slowQueue({ onReportError })
    queue.add(reports(3))
    const first = queue.flush()
    // The request of a Worker has ended, and its timers with it.
    vi.clearAllTimers()
    await pass(1000)
    queue.add([report(3)])
    const second = queue.flush()
    await pass(28_000)
    expect(calls).toHaveLength(1)
    await pass(1000)
    expect(calls.map(({ batch }) => batch.length)).toEqual([3, 4])
    if (late === 'a reply') calls[0]?.reply()
    if (late === 'a failure') calls[0]?.fail(new PerigeeError('down'))
    if (late === 'a refusal') calls[0]?.fail(refusal(400, 'invalid-request', '/locations/0'))
    await pass()
    const isStored = late === 'a reply'
    expect(queue.pending).toEqual(isStored ? [report(3)] : reports(4))
    calls[1]?.reply(isStored ? 1 : 4)
    const accepted = (await first).accepted + (await second).accepted
    expect([accepted, queue.pending, calls.length]).toEqual([4, [], 2])
    expect([onReportError.mock.calls, vi.getTimerCount()]).toEqual([[], 0])
  },
)

test('a drain that makes progress is waited for', async () => {
  const { queue, calls } = slowQueue()
  queue.add(reports(2500))
  const flushed = [queue.flush(), queue.flush()]
  for (const count of [1, 2, 3]) {
    await pass(20_000)
    expect(calls).toHaveLength(count)
    calls.at(-1)?.reply()
  }
  await pass()
  await Promise.all(flushed)
  expect([calls.length, queue.size]).toEqual([3, 0])
})

test('a call that is slow is waited for while its timers run', async () => {
  const onReportError = vi.fn()
  const { queue, calls } = slowQueue({ onReportError })
  queue.add(reports(3))
  const flushed = [queue.flush(), queue.flush()]
  await pass(240_000)
  queue.add([report(3)])
  await pass(60_000)
  expect(calls).toHaveLength(1)
  calls[0]?.reply()
  await pass()
  calls[1]?.reply()
  await Promise.all(flushed)
  expect(calls.map(({ batch }) => batch.length)).toEqual([3, 1])
  expect([queue.size, onReportError.mock.calls, vi.getTimerCount()]).toEqual([0, [], 0])
})

test('a late reply removes what its call has sent, also while another call is refused', async () => {
  const { queue, calls } = slowQueue()
  queue.add(reports(3))
  const first = queue.flush()
  vi.clearAllTimers()
  queue.add([report(3)])
  const second = queue.flush()
  await pass(30_000)
  calls[0]?.reply()
  await pass()
  calls[1]?.fail(refusal(400, 'invalid-request', '/locations/0'))
  await pass()
  expect(calls.map(({ batch }) => batch)).toEqual([reports(3), reports(4), [report(3)]])
  calls[2]?.reply()
  const accepted = (await first).accepted + (await second).accepted
  expect([accepted, queue.size]).toEqual([4, 0])
})

test('a timer that is overdue is renewed', async () => {
  const { queue, calls } = slowQueue()
  queue.add([report(0)])
  // The request of a Worker has ended, and its timers with it.
  vi.clearAllTimers()
  vi.setSystemTime(Date.now() + 500)
  queue.add([report(1)])
  await pass(400)
  expect(calls).toHaveLength(0)
  vi.setSystemTime(Date.now() + 200)
  queue.add([report(2)])
  await pass(1)
  expect(calls.map(({ batch }) => batch)).toEqual([reports(3)])
})
