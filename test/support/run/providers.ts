import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'

/*
 * A server on loopback that behaves like Resend, Twilio and a push service, failures included. `PUT
 * /recipients/<to>` sets a list of behaviours, one for each message to that recipient; one that
 * ends in a star stays. Without any left, messages are accepted. `GET /recipients/<to>` returns the
 * recipient's record.
 */

export const RESEND_KEY = 're_test_key'
export const TWILIO_SID = 'AC00000000000000000000000000000001'
const TWILIO_ACCOUNT = `/2010-04-01/Accounts/${TWILIO_SID}`
export const TWILIO_TOKEN = 'the-auth-token-of-the-tests'

/** What the providers have done for one recipient. */
export interface RecipientRecord {
  behaviours: string[]
  /** `order` counts the requests to all recipients. */
  requests: {
    method: string
    url: string
    headers: IncomingHttpHeaders
    body: Record<string, unknown>
    order: number
  }[]
  sent: Record<string, unknown>[]
  lookups: number
}

let requestCount = 0
const records = new Map<string, RecipientRecord>()
const recordOf = (to: string): RecipientRecord => {
  const record = records.get(to) ?? { behaviours: [], requests: [], sent: [], lookups: 0 }
  records.set(to, record)
  return record
}

const nextBehaviour = ({ behaviours }: RecipientRecord): string =>
  (behaviours[0]?.endsWith('*') ? behaviours[0].slice(0, -1) : behaviours.shift()) ?? 'accept'

const json = (
  response: ServerResponse | null,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void => {
  if (!response) return
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

const FAILURES: Record<string, [status: number, body: object]> = {
  401: [401, { name: 'missing_api_key', code: 20003, message: 'Authenticate', status: 401 }],
  403: [403, { name: 'validation_error', code: 20003, message: 'Not this domain' }],
  404: [404, { name: 'not_found', message: 'Not found' }],
  410: [410, { message: 'Gone' }],
  408: [408, { message: 'Request timeout' }],
  422: [422, { name: 'validation_error', message: 'Invalid `to` field', statusCode: 422 }],
  500: [
    500,
    { name: 'internal_server_error', code: 20500, message: 'An unexpected error occurred.' },
  ],
  502: [502, { message: 'Bad gateway' }],
  503: [503, { name: 'service_unavailable', code: 20503, message: 'Unavailable' }],
  21211: [400, { code: 21211, message: "Invalid 'To' Phone Number", status: 400 }],
  21215: [400, { code: 21215, message: 'Account not authorized to call', status: 400 }],
  21606: [400, { code: 21606, message: "The 'From' phone number is not valid", status: 400 }],
  21610: [400, { code: 21610, message: 'Attempt to send to unsubscribed recipient', status: 400 }],
  conflict: [
    409,
    {
      name: 'concurrent_idempotent_requests',
      message: 'Same idempotency key used while original request is still in progress.',
    },
  ],
}

/** Answers as the behaviour says; `accept` is what the provider does when all is well. */
const respond = (
  behaviour: string,
  request: IncomingMessage,
  response: ServerResponse,
  accept: (answer: ServerResponse | null) => void,
): unknown => {
  const [what = '', argument = ''] = behaviour.split(' ')
  const failure = FAILURES[what]
  if (failure) return json(response, ...failure)
  switch (what) {
    case 'accept':
      return accept(response)
    case 'throttle':
      return json(
        response,
        429,
        { name: 'rate_limit_exceeded', code: 20429 },
        argument ? { 'Retry-After': argument } : {},
      )
    case 'later':
      return json(response, 503, {}, { 'Retry-After': argument })
    case 'hang':
      return undefined
    case 'accept-and-hang':
      return accept(null)
    case 'reset':
      return void request.socket.destroy()
    case 'accept-and-reset':
      accept(null)
      return void request.socket.destroy()
    case 'redirect':
      response.writeHead(307, { Location: `http://${request.headers.host}/stolen` })
      return void response.end()
    case 'html':
      response.writeHead(200, { 'Content-Type': 'text/html' })
      return void response.end('<html>Welcome to the hotel’s network</html>')
    case 'endless': {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      const more = () => {
        while (!response.destroyed && response.write('{"id":'.repeat(4096))) {}
      }
      response.on('drain', more)
      return more()
    }
    case 'slow-body':
      response.writeHead(200, { 'Content-Type': 'application/json' })
      return void response.write('{"id":')
    default:
      throw new Error(`no such behaviour: ${what}`)
  }
}

/** Resend's rule: one e-mail per idempotency key; the same key with other content is refused. */
const accepted = new Map<string, { id: string; text: string }>()

const addRequest = (
  record: RecipientRecord,
  { method = '', url = '', headers }: IncomingMessage,
  body: Record<string, unknown>,
): void => {
  record.requests.push({ method, url, headers, body, order: ++requestCount })
}

const resend = (request: IncomingMessage, response: ServerResponse, text: string): void => {
  const body = JSON.parse(text)
  const [to] = body.to ?? []
  const record = recordOf(to)
  addRequest(record, request, body)
  respond(nextBehaviour(record), request, response, (answer) => {
    if (!request.headers['user-agent'])
      return json(answer, 403, { name: 'forbidden', message: 'error code: 1010' })
    if (request.headers.authorization !== `Bearer ${RESEND_KEY}`)
      return json(answer, 403, { name: 'invalid_api_key' })
    for (const member of ['from', 'to', 'subject']) {
      if (!body[member])
        return json(answer, 422, {
          name: 'missing_required_field',
          message: `Missing \`${member}\` field`,
        })
    }
    const key = String(request.headers['idempotency-key'])
    const known = accepted.get(key)
    if (known && known.text !== text)
      return json(answer, 409, { name: 'invalid_idempotent_request' })
    const id = known?.id ?? randomUUID()
    if (!known) record.sent.push({ id, key, body })
    accepted.set(key, { id, text })
    json(answer, 200, { id })
  })
}

const twilio = (
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  url: URL,
): unknown => {
  if (
    request.headers.authorization !==
    `Basic ${Buffer.from(`${TWILIO_SID}:${TWILIO_TOKEN}`).toString('base64')}`
  ) {
    return json(response, 401, { code: 20003, message: 'Authenticate', status: 401 })
  }
  const isCalls = url.pathname.endsWith('/Calls.json')
  if (request.method === 'GET') {
    const record = recordOf(url.searchParams.get('To') ?? '')
    record.lookups++
    const isCall = ({ sid }: Record<string, unknown>) => String(sid).startsWith('CA')
    return isCalls
      ? json(response, 200, { calls: record.sent.filter(isCall) })
      : json(response, 200, { messages: record.sent.filter((sent) => !isCall(sent)) })
  }
  const form = Object.fromEntries(new URLSearchParams(text))
  const { To: to = '' } = form
  const record = recordOf(to)
  addRequest(record, request, form)
  respond(nextBehaviour(record), request, response, (answer) => {
    if (!/^\+[1-9]\d{6,14}$/.test(to))
      return json(answer, 400, { code: 21211, message: "Invalid 'To' Phone Number", status: 400 })
    const message = {
      sid: `${isCalls ? 'CA' : 'SM'}${randomUUID().replaceAll('-', '')}`,
      status: 'queued',
      to,
      ...(isCalls ? { from: form.From } : { body: form.Body }),
      date_created: new Date().toUTCString(),
    }
    record.sent.unshift(message)
    json(answer, 201, message)
  })
}

/** A push service. The recipient is the last part of the endpoint; only the browser reads the body. */
const push = (
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
  name: string,
): void => {
  const record = recordOf(name)
  addRequest(record, request, { base64: bytes.toString('base64') })
  respond(nextBehaviour(record), request, response, (answer) => {
    record.sent.push({ name })
    answer?.writeHead(201, { Location: `/sent/${randomUUID()}` })
    answer?.end()
  })
}

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString()
  const url = new URL(request.url ?? '', 'http://provider.test')
  const [, to] = url.pathname.match(/^\/recipients\/(.*)$/) ?? []
  if (to !== undefined) {
    const record = recordOf(decodeURIComponent(to))
    if (request.method === 'PUT') record.behaviours = JSON.parse(text)
    return json(response, 200, record)
  }
  const [, browser] = url.pathname.match(/^\/push\/(.+)$/) ?? []
  if (browser) return push(request, response, bytes, browser)
  if (url.pathname === '/emails' && request.method === 'POST')
    return resend(request, response, text)
  const ofTwilio = ['Messages', 'Calls'].map((list) => `${TWILIO_ACCOUNT}/${list}.json`)
  if (ofTwilio.includes(url.pathname)) return twilio(request, response, text, url)
  if (url.pathname === '/stolen') addRequest(recordOf('stolen'), request, { text })
  json(response, 404, { message: 'Not found' })
}

export default async function setup() {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) =>
    server.listen(Number(process.env.PROVIDERS_PORT), '127.0.0.1', resolve),
  )
  return () => {
    server.closeAllConnections()
    server.close()
  }
}
