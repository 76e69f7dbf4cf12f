import { BODY_TIMEOUT_MS, largeBodies, waitWithoutSlot } from '../admission/loadShedding.ts'
import { malformedBody, overloaded, Problem } from '../contract/problem.ts'
import { gunzip, joinChunks } from './gunzip.ts'

/* Reads the bytes of a request body, within the limits on size, time and memory. */

export const MAX_BODY_BYTES = 1_048_576
/** The limit for requests without a verified token. */
export const MAX_OPEN_BODY_BYTES = 65_536

const tooLarge = (maxBytes: number) =>
  new Problem(
    'body-too-large',
    maxBytes === MAX_BODY_BYTES
      ? {}
      : { detail: `The body is larger than ${maxBytes / 1024} KiB.` },
  )

/** The value of Content-Length; NaN without one. */
export const declaredLength = ({ headers }: Request): number =>
  Number(headers.get('Content-Length') ?? Number.NaN)

export const isGzip = ({ headers }: Request): boolean =>
  /^\s*(x-)?gzip\s*$/i.test(headers.get('Content-Encoding') ?? '')

/**
 * Reads at most `maxBytes`, counted while they arrive. Each `owner` has a share of large bodies,
 * which count until their request ends. With `maxUnpackedBytes`, gzip is unpacked up to these.
 */
export const readBytes = async (
  request: Request,
  maxBytes: number,
  owner = '',
  maxUnpackedBytes = 0,
): Promise<Uint8Array> => {
  if (request.body === null) return new Uint8Array()
  const isPacked = maxUnpackedBytes > 0 && isGzip(request)
  const isSmall = maxBytes <= MAX_OPEN_BODY_BYTES || declaredLength(request) <= MAX_OPEN_BODY_BYTES
  const collect = () => collectBytes(request, request.body as ReadableStream<Uint8Array>, maxBytes)
  const acquireSlot = () => {
    if (!largeBodies.tryAcquire(request, owner)) throw overloaded()
  }
  if (!isSmall) acquireSlot()
  const sent = await waitWithoutSlot(request, isSmall ? collect : () => withTimeout(collect()))
  if (isSmall && !isPacked) return sent
  // A small one that is packed takes the slot only now: until it has arrived, it needs no memory.
  if (isSmall) acquireSlot()
  const bytes = isPacked ? await gunzip(sent, maxUnpackedBytes, tooLarge(maxUnpackedBytes)) : sent
  // Without a Content-Length, or packed, a small body is known as one only now.
  if (bytes.byteLength > MAX_OPEN_BODY_BYTES) largeBodies.renewSlot(request)
  else largeBodies.releaseSlot(request)
  return bytes
}

/** Fails after 60 s. Large bodies only: a timer for each small request costs throughput. */
const withTimeout = async <T>(work: Promise<T>): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(malformedBody('must arrive completely within 60 seconds')),
      BODY_TIMEOUT_MS,
    )
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}

const collectBytes = async (
  request: Request,
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> => {
  const declared = declaredLength(request)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  if (declared >= 0) {
    const whole = new Uint8Array(await request.arrayBuffer())
    if (whole.byteLength > maxBytes) throw tooLarge(maxBytes)
    return whole
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return joinChunks(chunks, size)
}
