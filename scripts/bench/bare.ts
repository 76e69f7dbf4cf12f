// What the API is measured against: the same database statements with nothing around them. No token, no checks; a report
// arrives packed, as the statement wants it, and is not even parsed.
import { CONTACT, INSERT, LAST, STANDING } from '../../src/locations/store.ts'
import { tellReported } from '../../src/locations/told.ts'

const ACCOUNT = 'acc_bare'

export default {
  async fetch(request: Request, { DB: db }: { DB: D1Database }): Promise<Response> {
    const [, device = '', what] = new URL(request.url).pathname.split('/')
    if (what === 'lastLocation') return Response.json(await db.prepare(LAST).bind(device, ACCOUNT, null).first())
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
