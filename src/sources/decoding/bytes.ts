/* Hex and base64. `Uint8Array.fromHex` and its kin are not in the Node that runs the fast tests. */

const HEX = /^([0-9a-f]{2})*$/i
const SPACES = /\s+/g

/** With or without `0x` and spaces; undefined for what is no hex. */
export const bytesOfHex = (text: string): Uint8Array | undefined => {
  const digits = text.replaceAll(SPACES, '').replace(/^0x/i, '')
  if (!HEX.test(digits)) return undefined
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) =>
    Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16),
  )
}

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Undefined for what is no base64. */
export const bytesOfBase64 = (text: string): Uint8Array | undefined => {
  try {
    const decoded = atob(text.replaceAll(SPACES, ''))
    return Uint8Array.from(decoded, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
