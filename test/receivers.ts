/*
 * Everything that the Worker calls while it is tested ends here, in Node: the pool hands over its outbound requests (`outboundService`
 * in vitest.config.ts), so a test may use public https names, as production does, and nothing leaves the machine.
 * `https://receiver.example/<box>/<manner>` answers in the manner named and keeps the call; `GET …/<box>` tells what it has kept, `PUT …/<box>` releases who is held.
 */

export interface Received {
  at: number
  manner: string
  headers: Record<string, string>
  body: string
}

const boxes = new Map<string, Received[]>()

const boxOf = (name: string): Received[] => {
  const box = boxes.get(name) ?? []
  boxes.set(name, box)
  return box
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())

/** Ten megabytes of which the last part never comes: who wants all of it waits in vain. */
const tenMegabytes = () => {
  let sent = 0
  return new ReadableStream({
    async pull(controller) {
      if (sent >= 10_000_000) await wait(60_000)
      controller.enqueue(new TextEncoder().encode('x'.repeat(65_536)))
      sent += 65_536
    },
  })
}

/** Boxes that answer from now on: a `PUT` says so. */
const released = new Set<string>()

/** `slow-300` takes 300 ms, `after-2` fails twice before it is well, `held` fails once its box is released, a number is a status. */
const answer = async (box: string, manner: string, calls: number): Promise<Response> => {
  const [kind, amount = '0'] = manner.split('-')
  if (kind === 'ok') return new Response('thank you')
  if (kind === 'mail') return Response.json({ id: `mail-${calls}` })
  if (kind === 'hang') await wait(60_000)
  while (kind === 'held' && !released.has(box)) await wait(20)
  if (kind === 'held') return new Response('sorry', { status: 503 })
  if (kind === 'slow') await wait(Number(amount))
  if (kind === 'big') return new Response(tenMegabytes())
  if (kind === 'after' && calls <= Number(amount)) return new Response('not yet', { status: 503 })
  if (kind === '301')
    return new Response(null, {
      status: 301,
      headers: { Location: 'https://receiver.example/elsewhere/ok' },
    })
  if (kind && /^\d{3}$/.test(kind)) return new Response(`status ${kind}`, { status: Number(kind) })
  return new Response(null, { status: 204 })
}

export const receive = async (request: Request): Promise<Response> => {
  const { hostname, pathname } = new URL(request.url)
  if (hostname !== 'receiver.example')
    return new Response('there is no such host in the tests', { status: 502 })
  const [, box = '', manner = ''] = pathname.split('/')
  const calls = boxOf(box)
  if (request.method === 'GET') return Response.json(calls)
  if (request.method === 'PUT') {
    released.add(box)
    return new Response(null, { status: 204 })
  }
  calls.push({
    at: Date.now(),
    manner,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  })
  return answer(box, manner, calls.length)
}
