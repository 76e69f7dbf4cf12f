/** The key under which text is compared "without regard to case", in any script. Which sigma a word ends on depends on where it ends. */
export const fold = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
