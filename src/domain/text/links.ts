/* Links in names: a name goes into mails, and a mail client makes links of what looks like one. */

const LINK =
  /\p{L}[\p{L}\p{N}+.-]*:\/\/\S*|\bwww\.\S*|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}\/\S*/giu

export const hasLink = (text: string): boolean => text.search(LINK) !== -1

/** A dot between letters, as in a host's name without a path. */
const HOST_DOT = /(?<=[\p{L}\p{N}])\.(?=\p{L}{2})/gu

/** Removes links, and spaces out what is left of a host's name. */
export const withoutLinks = (text: string): string =>
  text.replaceAll(LINK, '…').replaceAll(HOST_DOT, '. ')
