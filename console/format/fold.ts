/** The form in which text is searched, as in the API: ignoring case, and `ς` equals `σ`. */
export const fold = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
