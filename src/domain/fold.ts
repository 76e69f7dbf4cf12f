/** The key under which text is compared "without regard to case", in any script. */
export const fold = (text: string): string => text.normalize('NFKC').toLowerCase()
