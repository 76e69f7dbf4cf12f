/** Current IANA names that the runtime's list lacks, or has only under an older name. */
const CURRENT_NAMES =
  'UTC Etc/UTC Etc/GMT Africa/Asmara America/Argentina/Buenos_Aires ' +
  'America/Argentina/Catamarca America/Argentina/Cordoba America/Argentina/Jujuy ' +
  'America/Argentina/Mendoza America/Atikokan America/Indiana/Indianapolis ' +
  'America/Kentucky/Louisville America/Nuuk Asia/Ho_Chi_Minh Asia/Kathmandu Asia/Kolkata ' +
  'Asia/Yangon Atlantic/Faroe Europe/Kyiv Pacific/Chuuk Pacific/Kanton Pacific/Pohnpei'

/** Nautical zones, Etc/GMT+12 … Etc/GMT-14, where `+` is west of Greenwich. */
const NAUTICAL = Array.from({ length: 27 }, (_, index) => index - 14)
  .filter((hours) => hours !== 0)
  .map((hours) => `Etc/GMT${hours > 0 ? '+' : ''}${hours}`)

const formatName = (timeZone: string, style: 'longGeneric' | 'long', now: number): string =>
  new Intl.DateTimeFormat('en', { timeZone, timeZoneName: style })
    .formatToParts(now)
    .find(({ type }) => type === 'timeZoneName')?.value ?? timeZone

/** The name valid all year ("Eastern Time"), or the plain long name for a zone without one. */
const longName = (timeZone: string, now: number): string => {
  const generic = formatName(timeZone, 'longGeneric', now)
  return generic.startsWith('GMT') ? formatName(timeZone, 'long', now) : generic
}

let cachedNames: Readonly<Record<string, string>> | null = null

/** IANA name → long English name. Takes about 60 ms (470 formatters): done once per isolate. */
export const timeZoneNames = (now: number): Readonly<Record<string, string>> => {
  cachedNames ??= Object.fromEntries(
    [...new Set([...Intl.supportedValuesOf('timeZone'), ...CURRENT_NAMES.split(' '), ...NAUTICAL])]
      .sort()
      .map((zone) => [zone, longName(zone, now)]),
  )
  return cachedNames
}
