import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { HEAD_FILE } from '../../src/domain/archive/archive.ts'
import { type ArchiveFile, END_OF_ARCHIVE, packFile } from '../../src/domain/archive/tar.ts'

/** So many bytes, before they are compressed, are sent with one request. */
const REQUEST_BYTES = 33_554_432
const MAX_ATTEMPTS = 5
const WAIT_MS = 2000
const TOO_MANY_REQUESTS = 429

export interface SendOptions {
  url: string
  token: string
  userName?: string
  cell?: string
  /** Gets the number of files that are stored. */
  onProgress?: (files: number) => void
  requestBytes?: number
}

interface Imported {
  account: { id: string; userName: string; name: string }
  apiKey: string
}

interface Problem {
  code?: string
  detail?: string
}
type Reply = Imported & Problem & { session?: string; files?: number }

const pack = promisify(gzip)

class Refused extends Error {
  readonly code: string | undefined
  constructor({ code, detail }: Problem, status: number) {
    super(detail ?? `The server answered ${status}.`)
    this.code = code
  }
}

/** Whether a later attempt may succeed; what is stored stays. */
const isTemporary = (response: Response | Error): boolean =>
  response instanceof Error || response.status >= 500 || response.status === TOO_MANY_REQUESTS

const send = async (url: URL, token: string, init: RequestInit = {}): Promise<Reply> => {
  const headers = { ...init.headers, Authorization: `Bearer ${token}` }
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, { ...init, headers }).catch((error: Error) => error)
    if (isTemporary(response) && attempt < MAX_ATTEMPTS) {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS * attempt))
      continue
    }
    if (response instanceof Error)
      throw new Error(`${url.origin} cannot be reached: ${response.message}`)
    const reply = (await response.json().catch(() => ({}))) as Reply
    if (!response.ok) throw new Refused(reply, response.status)
    return reply
  }
}

/** The account of an import whose last reply was lost, with another key. */
const recoverReply = async (url: string, token: string, accountId: string): Promise<Imported> => {
  const path = `/admin/accounts/${accountId}`
  const { account } = await send(new URL(path, url), token)
  const { apiKey } = await send(new URL(`${path}/keys`, url), token, { method: 'POST' })
  return { account, apiKey }
}

/**
 * Sends an archive in as many requests as it needs. The first has the account alone: with the
 * session of its reply every other can be repeated.
 */
export const sendArchive = async (
  files: AsyncIterable<ArchiveFile>,
  { url, token, userName, cell, onProgress, requestBytes = REQUEST_BYTES }: SendOptions,
): Promise<Imported> => {
  let session: string | undefined
  let parts: Uint8Array[] = []
  let size = 0
  const sendParts = async (isLast: boolean): Promise<Reply> => {
    const address = new URL('/admin/accounts/import', url)
    const query = { userName, cell, session, more: String(!isLast) }
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) address.searchParams.set(name, value)
    const body = await pack(Buffer.concat([...parts, END_OF_ARCHIVE]))
    const headers = { 'Content-Type': 'application/gzip' }
    const request = { method: 'POST', body: body as unknown as BodyInit, headers }
    const reply = await send(address, token, request)
    session = reply.session
    parts = []
    size = 0
    if (reply.files !== undefined) onProgress?.(reply.files)
    return reply
  }
  for await (const { name, bytes } of files) {
    if (size > 0 && size + bytes.byteLength > requestBytes) await sendParts(false)
    parts.push(packFile(name, bytes))
    size += bytes.byteLength
    if (name === HEAD_FILE) await sendParts(false)
  }
  const [accountId = ''] = session?.split('.') ?? []
  return sendParts(true).catch((error) => {
    if (!(error instanceof Refused) || error.code !== 'import-not-found') throw error
    return recoverReply(url, token, accountId).catch(() => Promise.reject(error))
  })
}
