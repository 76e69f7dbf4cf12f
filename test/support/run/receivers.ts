import { openBroker } from './broker.ts'

/*
 * Answers every request that the Worker under test sends out: the pool hands them to Node
 * (`outboundService` in vitest.config.ts), so tests use public https names as production does, and
 * nothing leaves the machine.
 *
 * `POST https://receiver.example/<inbox>/<behaviour>` records the call and answers as the behaviour
 * says. `GET https://receiver.example/<inbox>` lists the recorded calls; `PUT` releases the calls
 * that `held` keeps open. A WebSocket to a behaviour `broker` is one of broker.ts.
 */

export interface ReceivedCall {
  at: number
  behaviour: string
  headers: Record<string, string>
  body: string
}

const inboxes = new Map<string, ReceivedCall[]>()
const released = new Set<string>()

const inboxNamed = (name: string): ReceivedCall[] => {
  const inbox = inboxes.get(name) ?? []
  inboxes.set(name, inbox)
  return inbox
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())

/** Ten megabytes that never end: a client that wants all of them waits in vain. */
const tenMegabytes = () => {
  let sentBytes = 0
  return new ReadableStream({
    async pull(controller) {
      if (sentBytes >= 10_000_000) await wait(60_000)
      controller.enqueue(new TextEncoder().encode('x'.repeat(65_536)))
      sentBytes += 65_536
    },
  })
}

/**
 * `slow-300` takes 300 ms, `after-2` fails twice and then succeeds, `held` fails once its inbox is
 * released, `held-1` fails once and then behaves like `held`, `held-0-400` fails with 400, three
 * digits are a status.
 */
const answer = async (inbox: string, behaviour: string, calls: number): Promise<Response> => {
  const [kind, amount = '0', heldStatus = '503'] = behaviour.split('-')
  if (kind === 'ok') return new Response('thank you')
  if (kind === 'mail') return Response.json({ id: `mail-${calls}` })
  if (kind === 'hang') await wait(60_000)
  while (kind === 'held' && calls > Number(amount) && !released.has(inbox)) await wait(20)
  if (kind === 'held') return new Response('sorry', { status: Number(heldStatus) })
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

/**
 * Garmin and RockBLOCK, as far as commands need them. A call is recorded in the inbox of its IMEI;
 * the password or key says how it is answered.
 */
const PROVIDER_HOSTS = [
  'ipcinbound.inreachapp.com',
  'explore.garmin.com',
  'eur-enterprise.inreach.garmin.com',
  'rockblock.rock7.com',
]

/** Whatever the provider: it hangs, fails, breaks off, redirects, or answers with a flood. */
const answerBadly = async (behaviour: string): Promise<Response | null> => {
  if (behaviour === 'hang') await wait(60_000)
  if (behaviour === 'big') return new Response(tenMegabytes())
  if (behaviour === 'broken') throw new Error('connection reset')
  if (behaviour === '302') {
    const headers = { Location: 'https://receiver.example/stolen/ok' }
    return new Response(null, { status: 302, headers })
  }
  if (/^\d{3}$/.test(behaviour)) return new Response('sorry', { status: Number(behaviour) })
  return null
}

const answerCommand = async (request: Request): Promise<Response> => {
  const { hostname, pathname } = new URL(request.url)
  const body = await request.text()
  const imei = /\b\d{15}\b/.exec(`${request.url} ${body}`)?.[0] ?? 'none'
  const headers = Object.fromEntries(request.headers)
  inboxNamed(imei).push({ at: Date.now(), behaviour: `${hostname}${pathname}`, headers, body })
  const isRockblock = hostname === 'rockblock.rock7.com'
  const password = new URLSearchParams(body).get('password') ?? ''
  const behaviour = isRockblock ? password : (headers['x-api-key'] ?? 'ok')
  const bad = await answerBadly(behaviour)
  if (bad) return bad
  if (!isRockblock) return Response.json({ count: 1 })
  if (behaviour === 'wrong') return new Response('FAILED,10,Invalid login')
  if (behaviour === 'system') return new Response('FAILED,99,System error')
  return new Response('OK,4114651')
}

export const answerOutboundRequest = async (request: Request): Promise<Response> => {
  const { hostname, pathname } = new URL(request.url)
  if (PROVIDER_HOSTS.includes(hostname)) return answerCommand(request)
  if (hostname !== 'receiver.example')
    return new Response('the tests have no such host', { status: 502 })
  const [, inbox = '', behaviour = ''] = pathname.split('/')
  const calls = inboxNamed(inbox)
  if (behaviour.startsWith('broker')) return openBroker(behaviour, calls) as unknown as Response
  if (request.method === 'GET') return Response.json(calls)
  if (request.method === 'PUT') {
    released.add(inbox)
    return new Response(null, { status: 204 })
  }
  calls.push({
    at: Date.now(),
    behaviour,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  })
  // `refuse-x` and `break-x` fail for a body that contains x.
  const [, fault, part = ''] = /^(refuse|break)-(.+)$/.exec(behaviour) ?? []
  if (fault && calls.at(-1)?.body.includes(part))
    return new Response('no', { status: fault === 'refuse' ? 400 : 500 })
  return answer(inbox, behaviour, calls.length)
}
