/* A payload as text that can be shown. */

const MAX_SHOWN_BYTES = 16_384
const BYTES_A_LINE = 16

export interface ShownPayload {
  text: string
  isText: boolean
  /** How many bytes are shown, where it is not all of them. */
  cutAt: number | null
}

export const bytesOfBase64 = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))

/** Letters, line breaks and tabs; other control characters are those of binary data. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

const decodeText = (bytes: Uint8Array, isCut: boolean): string | null => {
  try {
    // A cut may be within a letter, which a stream waits for.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
    const decoded = decoder.decode(bytes, { stream: isCut })
    return CONTROL.test(decoded) ? null : decoded
  } catch {
    return null
  }
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0')

const hexLine = (bytes: Uint8Array, from: number): string => {
  const line = bytes.subarray(from, from + BYTES_A_LINE)
  const letters = Array.from(line, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
  )
  const codes = Array.from(line, hex).join(' ')
  return `${from.toString(16).padStart(6, '0')}  ${codes.padEnd(BYTES_A_LINE * 3 - 1)}  ${letters.join('')}`
}

/** Text where the bytes are text, else a hexadecimal dump. */
export const showBytes = (bytes: Uint8Array): ShownPayload => {
  const isCut = bytes.byteLength > MAX_SHOWN_BYTES
  const shown = isCut ? bytes.subarray(0, MAX_SHOWN_BYTES) : bytes
  const cutAt = isCut ? MAX_SHOWN_BYTES : null
  const decoded = decodeText(shown, isCut)
  if (decoded !== null) return { text: decoded, isText: true, cutAt }
  const lines = Array.from({ length: Math.ceil(shown.byteLength / BYTES_A_LINE) }, (_, at) =>
    hexLine(shown, at * BYTES_A_LINE),
  )
  return { text: lines.join('\n'), isText: false, cutAt }
}
