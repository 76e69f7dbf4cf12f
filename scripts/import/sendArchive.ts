import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type ArchiveFile, END_OF_ARCHIVE, packFile } from '../../src/domain/archive/tar.ts'

/** So many bytes, before they are compressed, are sent with one request. */
const REQUEST_BYTES = 33_554_432
const MAX_ATTEMPTS = 5
const WAIT_MS = 2000

export interface SendOptions {
  url: string
  token: string
  userName?: string
  cell?: string
  /** Told how many files are stored. */
  onProgress?: (files: number) => void
  requestBytes?: number
}

interface Imported {
  account: { id: string; userName: string; name: string }
  apiKey: string
}

type Reply = Imported & { session?: string; files?: number; detail?: string; error?: string }

const pack = promisify(gzip)

/** A failure of the server or the network is tried again: what is stored stays. */
const post = async (url: URL, token: string, body: Uint8Array): Promise<Reply> => {
  for (let attempt = 1; ; attempt++) {
    const request = {
      method: 'POST',
      body,
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/gzip',
      },
    }
    const response = await fetch(url, request as RequestInit).catch((error: Error) => error)
    const isFailure = response instanceof Error || response.status >= 500
    if (isFailure && attempt < MAX_ATTEMPTS) {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS * attempt))
      continue
    }
    if (response instanceof Error) throw response
    const reply = (await response.json()) as Reply
    if (response.ok) return reply
    throw new Error(reply.detail ?? `The server answered ${response.status}.`)
  }
}

/** Sends an archive in as many requests as it needs. */
export const sendArchive = async (
  files: AsyncIterable<ArchiveFile>,
  { url, token, userName, cell, onProgress, requestBytes = REQUEST_BYTES }: SendOptions,
): Promise<Imported> => {
  let session: string | undefined
  let parts: Uint8Array[] = []
  let size = 0
  const send = async (isLast: boolean): Promise<Reply> => {
    const address = new URL('/admin/accounts/import', url)
    const query = { userName, cell, session, more: String(!isLast) }
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) address.searchParams.set(name, value)
    const body = await pack(Buffer.concat([...parts, END_OF_ARCHIVE]))
    const reply = await post(address, token, body)
    session = reply.session
    parts = []
    size = 0
    if (reply.files !== undefined) onProgress?.(reply.files)
    return reply
  }
  for await (const { name, bytes } of files) {
    if (size > 0 && size + bytes.byteLength > requestBytes) await send(false)
    parts.push(packFile(name, bytes))
    size += bytes.byteLength
  }
  return send(true)
}
