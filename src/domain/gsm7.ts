/* The alphabet of SMS (3GPP TS 23.038): a message written in it has room for 160 characters, any other for 70. */

const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const EXTENDED = '^{}\\[~]|€'

const SEPTETS = new Map<string, number>([
  ...[...BASIC].map((c) => [c, 1] as const),
  ...[...EXTENDED].map((c) => [c, 2] as const),
])

const SPELLED: Record<string, string> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '−': '-',
  '…': '...',
  '•': '*',
  '°': ' deg',
  '×': 'x',
  '·': '.',
  '`': "'",
  '´': "'",
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  œ: 'oe',
  Œ: 'OE',
  ı: 'i',
}

const spelled = (character: string): string => {
  if (SEPTETS.has(character)) return character
  const known = SPELLED[character]
  if (known !== undefined) return known
  const plain = character.normalize('NFKD').replaceAll(/\p{M}/gu, '')
  return [...plain].every((c) => SEPTETS.has(c)) ? plain : character
}

/** The text with whatever has a spelling in the alphabet spelled so, and pictures left out; scripts of their own stay as they are. */
export const toGsm7 = (text: string): string =>
  [...text.normalize('NFC').replaceAll(/\p{Extended_Pictographic}|\u{200d}|\u{fe0f}/gu, '')]
    .map(spelled)
    .join('')

/** How much room a text takes, in units of the 160 of a segment; null where it is not in the alphabet. */
export const septets = (text: string): number | null => {
  let sum = 0
  for (const character of text) {
    const size = SEPTETS.get(character)
    if (size === undefined) return null
    sum += size
  }
  return sum
}

/** The beginning of a text that fits; what was cut shows as two dots. */
export const cutTo = (text: string, most: number, sizeOf: (text: string) => number): string => {
  if (sizeOf(text) <= most) return text
  let kept = ''
  for (const character of text) {
    if (sizeOf(kept + character) > most - 2) break
    kept += character
  }
  return most < 3 ? '' : `${kept.trimEnd()}..`
}
