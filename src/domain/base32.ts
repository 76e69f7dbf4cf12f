const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Crockford's alphabet, lower case: five bits a character, no look-alikes, and never an underscore. */
export const base32 = (bytes: Uint8Array, length: number): string => {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 5 && text.length < length) {
      bits -= 5
      text += ALPHABET[(held >> bits) & 31]
    }
  }
  return text
}

/** A whole number in so many characters, which sort as the numbers do. */
export const base32Number = (value: number, places: number): string => {
  let text = ''
  for (
    let rest = Math.floor(value), place = 0;
    place < places;
    place++, rest = Math.floor(rest / 32)
  )
    text = ALPHABET[rest % 32] + text
  return text
}

/** `at` in milliseconds as nine characters that sort as the times do. */
export const base32Time = (at: number): string => base32Number(at, 9)
