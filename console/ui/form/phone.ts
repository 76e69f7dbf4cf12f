/** E.164, as the API checks it. */
export const isPhone = (value: string): boolean => /^\+[1-9]\d{6,14}$/.test(value)

/** Without what people write between digits; 00 is the + of many countries. */
export const tidyPhone = (typed: string): string =>
  typed.replaceAll(/[\s().\-/\u2010-\u2015]/g, '').replace(/^00(?=[1-9])/, '+')
