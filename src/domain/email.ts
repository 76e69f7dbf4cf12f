import { fold } from './fold.ts'

/** No blanks, quotes, brackets, commas, colons or controls: nothing that could end an address or begin a header. */
const LOCAL = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A domain in its ASCII form, or null: `bücher.example` is `xn--bcher-kva.example`. */
const asciiDomain = (domain: string): string | null => {
  if (!WRITTEN_DOMAIN.test(domain) || !URL.canParse(`https://${domain}`)) return null
  const { hostname } = new URL(`https://${domain}`)
  return hostname.length <= 253 && DOMAIN.test(hostname) ? hostname : null
}

/** The key under which an address is compared, however its domain is written; null where it is none. */
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
  const ascii = asciiDomain(domain)
  return ascii && `${fold(local)}@${ascii}`
}

/** The address as mail is sent to it: providers refuse a domain in letters of its own. */
export const mailAddress = (address: string): string => {
  const at = address.lastIndexOf('@') + 1
  const ascii = asciiDomain(address.slice(at))
  return ascii === null ? address : address.slice(0, at) + ascii
}
