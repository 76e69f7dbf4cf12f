/* The GSM-7 alphabet of SMS (3GPP TS 23.038): a segment has 160 characters, in UCS-2 only 70. */

const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const EXTENDED = '^{}\\[~]|€'

const SEPTETS = new Map<string, number>([
  ...[...BASIC].map((c) => [c, 1] as const),
  ...[...EXTENDED].map((c) => [c, 2] as const),
])

/** Each character of a text, and what stands for it. */
const REPLACEMENTS = new Map(
  Object.entries({
    "'": '‘’‚`´',
    '"': '“”„«»',
    '-': '–—−',
    '...': '…',
    '*': '•',
    ' deg': '°',
    x: '×',
    '.': '·',
    l: 'ł',
    L: 'Ł',
    d: 'đð',
    D: 'ĐÐ',
    th: 'þ',
    Th: 'Þ',
    oe: 'œ',
    OE: 'Œ',
    i: 'ı',
  }).flatMap(([plain, characters]) => [...characters].map((one) => [one, plain] as const)),
)

const replaceCharacter = (character: string): string => {
  if (SEPTETS.has(character)) return character
  const replacement = REPLACEMENTS.get(character)
  if (replacement !== undefined) return replacement
  const plain = character.normalize('NFKD').replaceAll(/\p{M}/gu, '')
  return [...plain].every((c) => SEPTETS.has(c)) ? plain : character
}

/** Replaces what has an equivalent in GSM-7 and drops emoji; other scripts stay as they are. */
export const toGsm7 = (text: string): string =>
  [...text.normalize('NFC').replaceAll(/\p{Extended_Pictographic}|\u{200d}|\u{fe0f}/gu, '')]
    .map(replaceCharacter)
    .join('')

/** The length of a text in septets, of which a segment has 160; null when it is not in GSM-7. */
export const septets = (text: string): number | null => {
  let sum = 0
  for (const character of text) {
    const size = SEPTETS.get(character)
    if (size === undefined) return null
    sum += size
  }
  return sum
}

/** How many segments an SMS takes: each of several has room for fewer characters. */
export const smsSegments = (text: string): number => {
  const size = septets(text)
  const [one, more] = size === null ? [70, 67] : [160, 153]
  const length = size ?? text.length
  return length <= one ? 1 : Math.ceil(length / more)
}

/** Cuts a text to a size; two dots mark the cut. */
export const cutTo = (text: string, maxSize: number, sizeOf: (text: string) => number): string => {
  if (sizeOf(text) <= maxSize) return text
  let kept = ''
  for (const character of text) {
    if (sizeOf(kept + character) > maxSize - 2) break
    kept += character
  }
  return maxSize < 3 ? '' : `${kept.trimEnd()}..`
}
