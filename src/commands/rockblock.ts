import { bytesOf, type Channel, NOT_IN_FORMAT } from './channel.ts'
import { MAX_ROCKBLOCK_BYTES } from './limits.ts'

/* RockBLOCK MT. Its HTTP status says nothing; the body is `OK,<id>` or `FAILED,<code>,<text>`. */

/** Codes of what RockBLOCK has refused. A system error (99) does not say so. */
const REFUSED = /^FAILED,1[0-6]\b/

const URL = 'https://rockblock.rock7.com/rockblock/MT'

export const rockblockChannel: Channel = {
  hasCredentials: ({ userName, password }) => !!userName && !!password,
  compose: (command, { userName = '', password = '' }) => {
    const bytes = bytesOf(command)
    if (!bytes) return { refused: NOT_IN_FORMAT }
    if (bytes.byteLength > MAX_ROCKBLOCK_BYTES)
      return {
        refused: `The payload has ${bytes.byteLength} bytes; RockBLOCK takes at most ${MAX_ROCKBLOCK_BYTES}.`,
      }
    // A form keeps the password out of the logs that a query would be in.
    const body = new URLSearchParams({
      imei: command.identifier,
      username: userName,
      password,
      data: bytes.toHex(),
    })
    return {
      request: {
        url: URL,
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: body.toString(),
      },
      result: `${bytes.byteLength} of at most ${MAX_ROCKBLOCK_BYTES} bytes. Delivered at the device’s next session.`,
    }
  },
  read: (_, body) => {
    const answer = body.trim().slice(0, 500)
    if (/^OK,/.test(answer)) return { status: 'sent', answer }
    return { status: REFUSED.test(answer) ? 'failed' : 'unknown', answer }
  },
}
