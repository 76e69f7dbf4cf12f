/** In the order of ASCII: encoded numbers sort like the numbers. */
export const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Crockford's base32 in lower case: no characters that look alike, and no underscore. */
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

/** A whole number in `length` characters, which sort like the numbers. */
export const base32Number = (value: number, length: number): string => {
  let text = ''
  for (let rest = Math.floor(value); text.length < length; rest = Math.floor(rest / 32))
    text = ALPHABET[rest % 32] + text
  return text
}

export const TIME_LENGTH = 9

/** An instant in milliseconds as nine characters, which sort like the instants. */
export const base32Time = (at: number): string => base32Number(at, TIME_LENGTH)
