// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are meant.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** One line that cannot control the terminal, whoever wrote it. */
export const toLine = (text: string): string => text.replaceAll(CONTROLS, ' ')

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const COMBINING = /^(?:\p{M}|[\u200b-\u200f])$/u

const characterWidth = (character: string): number => {
  if (character < '\u0300') return 1
  if (COMBINING.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** How many columns of a terminal a line takes. */
export const widthOf = (line: string): number => {
  let width = 0
  for (const character of line) width += characterWidth(character)
  return width
}

/** At most so many columns; what is cut ends with an ellipsis. */
export const cutTo = (line: string, columns: number): string => {
  if (widthOf(line) <= columns) return line
  let width = 1
  let kept = ''
  for (const character of line) {
    width += characterWidth(character)
    if (width > columns) break
    kept += character
  }
  return `${kept}…`
}

export const count = (number: number, one: string, several = `${one}s`): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : several}`
