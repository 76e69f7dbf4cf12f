import { MAX_PUSH_BYTES } from '../../domain/account/source.ts'
import type { Slices } from '../../http/admission/slices.ts'
import { invalid } from '../../http/contract/problem.ts'
import type { PastedPush } from '../forms.ts'
import { bytesOfBase64 } from './bytes.ts'
import { mediaTypeOf } from './decode.ts'
import type { Push } from './push.ts'

const bytesOf = ({ body, bodyBase64 }: PastedPush): Uint8Array => {
  if (bodyBase64 === undefined) return new TextEncoder().encode(body ?? '')
  const bytes = bytesOfBase64(bodyBase64)
  if (!bytes) throw invalid({ pointer: '/bodyBase64', detail: 'must be base64' })
  return bytes
}

const headersOf = (given: Record<string, string>): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.set(name, value)
    } catch {
      throw invalid({ pointer: '/headers', detail: 'must have names and values of HTTP headers' })
    }
  }
  return headers
}

/** A payload that someone pasted, as if its provider had just pushed it. */
export const toPush = (pasted: PastedPush, now: number, slices: Slices): Push => {
  const body = bytesOf(pasted)
  if (body.byteLength > MAX_PUSH_BYTES)
    throw invalid({
      pointer: '/body',
      detail: `must be at most ${MAX_PUSH_BYTES / 1024} KiB large`,
    })
  return {
    contentType: mediaTypeOf(pasted.contentType),
    query: new URLSearchParams(pasted.query),
    headers: headersOf(pasted.headers ?? {}),
    body,
    now,
    settings: pasted.settings,
    slices,
  }
}
