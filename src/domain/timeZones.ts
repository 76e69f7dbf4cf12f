/** Names that IANA uses today where the runtime's list has an older one, or none. */
const MISSING =
  'UTC Etc/UTC Etc/GMT Africa/Asmara America/Argentina/Buenos_Aires America/Argentina/Catamarca America/Argentina/Cordoba ' +
  'America/Argentina/Jujuy America/Argentina/Mendoza America/Atikokan America/Indiana/Indianapolis America/Kentucky/Louisville ' +
  'America/Nuuk Asia/Ho_Chi_Minh Asia/Kathmandu Asia/Kolkata Asia/Yangon Atlantic/Faroe Europe/Kyiv Pacific/Chuuk Pacific/Kanton Pacific/Pohnpei'

/** The zones that ships keep at sea: Etc/GMT+12 … Etc/GMT-14, where `+` is west. */
const AT_SEA = Array.from({ length: 27 }, (_, index) => index - 14)
  .filter((hours) => hours !== 0)
  .map((hours) => `Etc/GMT${hours > 0 ? '+' : ''}${hours}`)

const nameIn = (timeZone: string, style: 'longGeneric' | 'long', now: number): string =>
  new Intl.DateTimeFormat('en', { timeZone, timeZoneName: style })
    .formatToParts(now)
    .find(({ type }) => type === 'timeZoneName')?.value ?? timeZone

/** The name that holds all year ("Eastern Time"); of a zone without one ("GMT+00:00") the plain long name. */
const longName = (timeZone: string, now: number): string => {
  const generic = nameIn(timeZone, 'longGeneric', now)
  return generic.startsWith('GMT') ? nameIn(timeZone, 'long', now) : generic
}

let named: Readonly<Record<string, string>> | null = null

/** IANA name → long English name. Some 470 formatters are made for it, 60 ms of work: once an isolate, when first asked for. */
export const timeZoneNames = (now: number): Readonly<Record<string, string>> => {
  named ??= Object.fromEntries(
    [...new Set([...Intl.supportedValuesOf('timeZone'), ...MISSING.split(' '), ...AT_SEA])]
      .sort()
      .map((zone) => [zone, longName(zone, now)]),
  )
  return named
}
