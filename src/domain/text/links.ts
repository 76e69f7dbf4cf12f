/* Links in names: a name goes into mails, and a mail client makes links of what looks like one. */

/** As a browser reads a host's name: other forms of letters and dots, and what nobody sees. */
const normalize = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replaceAll('。', '.')

const LINK = /[\p{L}\p{N}+.-]*:\/\/\S*|(?<![\p{L}\p{N}])www\.\S*/giu

/** Only what is a link for certain: `Co.KG/Lager` is a name. */
export const hasLink = (text: string): boolean => normalize(text).search(LINK) !== -1

/** A dot before what may be a top-level domain, and the first one of an IPv4 address. */
const HOST_DOT = /(?<=[^\s.])\.(?=\p{L}[\p{L}\p{M}])|(?<=\d)\.(?=\d+\.\d+\.\d)/gu

/** Removes links, and spaces out what may be a host's name. Other texts stay as they are. */
export const withoutLinks = (text: string): string => {
  const normalized = normalize(text)
  const harmless = normalized.replaceAll(LINK, '…').replaceAll(HOST_DOT, '. ')
  return harmless === normalized ? text : harmless
}
