import { fold } from '../text/fold.ts'

/** Excludes blanks, quotes, brackets and controls, which could end an address or start a header. */
const LOCAL = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const UNICODE_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u
const ASCII_DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/** `bücher.example` → `xn--bcher-kva.example`; null for an invalid domain. */
const toAsciiDomain = (domain: string): string | null => {
  if (!UNICODE_DOMAIN.test(domain) || !URL.canParse(`https://${domain}`)) return null
  const { hostname } = new URL(`https://${domain}`)
  return hostname.length <= 253 && ASCII_DOMAIN.test(hostname) ? hostname : null
}

/** The normalised form in which addresses are compared, or null when the address is invalid. */
export const emailKey = (address: string): string | null => {
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)]
  if (
    at < 1 ||
    address.length > 254 ||
    new TextEncoder().encode(local).byteLength > 64 ||
    !LOCAL.test(local)
  )
    return null
  const ascii = toAsciiDomain(domain)
  return ascii && `${fold(local)}@${ascii}`
}

/** A Message-ID without its angle brackets, which not every API writes. */
export const bareMessageId = (id: string): string => id.trim().replace(/^<(.*)>$/, '$1')

/** The address with its domain in ASCII: mail providers reject Unicode domains. */
export const mailAddress = (address: string): string => {
  const at = address.lastIndexOf('@') + 1
  const ascii = toAsciiDomain(address.slice(at))
  return ascii === null ? address : address.slice(0, at) + ascii
}
