import type { Counts } from '../../src/reportSummary.ts'
import { numberOf, type Options, textOf, timeOf } from '../arguments.ts'
import type { Command, Context } from '../command.ts'
import { EXIT, type ExitCode, usageFailure } from '../failure.ts'
import type { Location } from '../formats/track.ts'
import { reportLines } from '../reportLines.ts'
import { describeCounts, isComplete, sendLocations } from '../sendLocations.ts'
import { findDevice } from '../session.ts'
import { writeJson, writeLine } from '../terminal/output.ts'

const NUMBERS = {
  latitude: 'Degrees north, from −90 to 90.',
  longitude: 'Degrees east, from −180 to 180.',
  altitude: 'Metres.',
  speed: 'km/h.',
  course: 'Degrees from north.',
  accuracy: 'Metres.',
  battery: 'Percent.',
} as const

const NUMBER_OPTIONS: Options = Object.fromEntries(
  Object.entries(NUMBERS).map(([name, about]) => [
    name,
    { type: 'string', value: 'NUMBER', about } as const,
  ]),
)
const readLocation = ({ values }: Context): Location => {
  const location: Location = { dateTime: timeOf(values, 'time') ?? new Date().toISOString() }
  for (const name of Object.keys(NUMBERS)) {
    const value = numberOf(values, name)
    if (value !== undefined) location[name] = value
  }
  for (const name of ['latitude', 'longitude'])
    if (location[name] === undefined) throw usageFailure(`Give --${name}.`)
  const source = textOf(values, 'source')
  return source ? { ...location, source } : location
}

const finish = async (counts: Counts, invalid: number, isJson: boolean): Promise<ExitCode> => {
  if (isJson) await writeJson({ ...counts, invalid })
  else for (const line of describeCounts(counts)) await writeLine(line)
  if (!isJson && invalid > 0) await writeLine(`${invalid.toLocaleString('en')} refused: not valid`)
  return isComplete(counts) && invalid === 0 ? EXIT.ok : EXIT.failed
}

export const report: Command = {
  name: 'report',
  summary: 'Report a location of a device, or many from stdin.',
  usage: [
    'report DEVICE --latitude NUMBER --longitude NUMBER [--time TIME] […]',
    'report - < lines.ndjson',
  ],
  maxPositionals: 1,
  options: {
    ...NUMBER_OPTIONS,
    time: { type: 'string', value: 'TIME', about: 'When; without it, now.' },
    source: { type: 'string', value: 'TEXT', about: 'How it was determined, such as gnss.' },
  },
  details: [
    'With “-” each line of stdin is one location as JSON, with deviceId or identifier, dateTime, latitude',
    'and longitude. Lines are sent as they come. One that the service refuses holds back no others, and an',
    'outage is waited for: up to a minute once stdin has ended.',
  ],
  run: async (context) => {
    const { positionals, isJson, signal, open } = context
    const [given] = positionals
    if (!given) throw usageFailure('Name a device, or “-” to read locations from stdin.')
    if (given === '-') {
      const { counts, invalid, failure } = await reportLines(await open(), signal)
      const exitCode = await finish(counts, invalid, isJson)
      if (failure !== null) throw failure
      return exitCode
    }
    const location = readLocation(context)
    const perigee = await open()
    const { id } = await findDevice(perigee, given, signal)
    const points = [{ place: 'location', location: { ...location, deviceId: id } }]
    const counts = await sendLocations(perigee, { points, signal, onProgress: () => {} })
    return finish(counts, 0, isJson)
  },
}
