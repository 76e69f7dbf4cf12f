// What the API is measured against: the same database statements with nothing around them. No token, no checks; a report
// arrives packed, as the statement wants it, and is not even parsed.
import { CONTACT, INSERT, LAST, PAGE, STANDING } from '../../src/locations/store.ts'
import { tellReported } from '../../src/locations/told.ts'

const ACCOUNT = 'acc_bare'

const encoder = new TextEncoder()

/** Every row of a track, as the database gave it, streamed in the pages and pieces that the API streams. */
const track = (db: D1Database, device: string): ReadableStream => {
  let rows: { time: number }[] = []
  let from = 0
  return new ReadableStream(
    {
      async pull(controller) {
        if (rows.length === 0) rows = (await db.prepare(PAGE).bind(device, ACCOUNT, null, from, 1e14, 4000).all<{ time: number }>()).results
        if (rows.length === 0) return controller.close()
        const piece = rows.splice(0, 100)
        from = (piece.at(-1)?.time ?? 0) + 1
        controller.enqueue(encoder.encode(piece.map((row) => JSON.stringify(row)).join('')))
      },
    },
    { highWaterMark: 0 },
  )
}

export default {
  async fetch(request: Request, { DB: db }: { DB: D1Database }): Promise<Response> {
    const [, device = '', what] = new URL(request.url).pathname.split('/')
    if (what === 'lastLocation') return Response.json(await db.prepare(LAST).bind(device, ACCOUNT, null).first())
    if (what === 'track') return new Response(track(db, device))
    const packed = await request.text()
    const now = Date.now()
    const [inserted] = await db.batch([
      db.prepare(INSERT).bind(device, ACCOUNT, null, now, 'UTC', new Date(now).toISOString().slice(0, 10), packed),
      ...tellReported(db, { accountId: ACCOUNT, deviceId: device, eventId: 'evt_bare', packed }, now),
      db.prepare(STANDING).bind(device, ACCOUNT, null, null),
      db.prepare(CONTACT).bind(device, ACCOUNT, null, now, 'UTC'),
    ])
    return Response.json({ accepted: inserted?.meta.changes }, { status: 201 })
  },
}
