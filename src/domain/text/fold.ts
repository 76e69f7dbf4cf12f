/** The form in which text is compared ignoring case. A final `ς` equals `σ`: prefixes still match. */
export const fold = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')

/** Sorts after every text that begins with a prefix: `prefix + PREFIX_END`. */
export const PREFIX_END = '\u{10ffff}'
