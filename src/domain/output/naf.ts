import {
  nameForOthers,
  type OutputRecord,
  type OutputRequest,
  type OutputSettings,
} from './output.ts'

/*
 * Position reports of vessels (VMS) in the North Atlantic Format: fields `//CODE/value` between SR
 * and ER. Call sign, internal reference and external marking are tags of the device.
 */

const TAGS = { RC: 'callSign', IR: 'internalReference', XR: 'externalMarking', FS: 'flag' } as const
const KMH_PER_KNOT = 1.852
const MAX_VALUE_LENGTH = 60

/** The format has Latin letters without accents here, and slashes separate its fields. */
const clean = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .replaceAll('/', ' ')
    .trim()
    .slice(0, MAX_VALUE_LENGTH)

/** Degrees with a sign and three decimals: `+38.722`, `-009.139`. */
const degrees = (value: number, digits: number): string => {
  const [whole = '', rest = ''] = Math.abs(value).toFixed(3).split('.')
  return `${value < 0 ? '-' : '+'}${whole.padStart(digits, '0')}.${rest}`
}

/** Year, month and day, and hours and minutes, in UTC. */
const dayOf = (time: number): string =>
  new Date(time).toISOString().slice(0, 10).replaceAll('-', '')
const minuteOf = (time: number): string =>
  new Date(time).toISOString().slice(11, 16).replace(':', '')

const fieldsOf = (record: OutputRecord, { to, from }: OutputSettings): [string, string][] => {
  const { device, time, latitude, longitude, speed, course } = record
  const tagged = Object.entries(TAGS).map(([code, tag]): [string, string] => [
    code,
    clean(device.tags[tag] ?? ''),
  ])
  const [callSign, ...others] = tagged
  return [
    ['AD', clean(to ?? '')],
    ['FR', clean(from ?? '')],
    ['TM', 'POS'],
    ['RC', callSign?.[1] || clean(nameForOthers(device))],
    ...others,
    ['NA', clean(device.name)],
    ['LT', degrees(latitude, 2)],
    ['LG', degrees(longitude, 3)],
    [
      'SP',
      speed === undefined ? '' : String(Math.min(999, Math.round((speed * 10) / KMH_PER_KNOT))),
    ],
    ['CO', course === undefined ? '' : String(Math.round(course) % 360)],
    ['DA', dayOf(time)],
    ['TI', minuteOf(time)],
  ]
}

export const toNaf = (record: OutputRecord, settings: OutputSettings): OutputRequest => {
  const fields = fieldsOf(record, settings).filter(([, value]) => value !== '')
  const text = fields.map(([code, value]) => `//${code}/${value}`).join('')
  return { contentType: 'text/plain; charset=iso-8859-1', body: `//SR${text}//ER//` }
}
