import { textOf } from '../arguments.ts'
import type { Command, Context } from '../command.ts'
import { type ExitCode, Failure, usageFailure } from '../failure.ts'
import { parseCsv } from '../formats/csv.ts'
import {
  formatOf,
  isDeviceList,
  isTrackFormat,
  parseTrack,
  readText,
  TRACK_FORMATS,
  type TrackFormat,
} from '../formats/readTrack.ts'
import { UnreadableFile } from '../formats/track.ts'
import { XmlError } from '../formats/xml.ts'
import { importDevices } from '../importDevices.ts'
import { importTrack } from '../importTrack.ts'

interface Source {
  kind: TrackFormat | 'devices' | null
  file: string
}

/** `import gpx FILE`, `import devices FILE`, or `import FILE`, whose name tells the format. */
const readPositionals = ([first, second]: string[]): Source => {
  if (!first) throw usageFailure('Name a file.')
  if (second === undefined) {
    if (isTrackFormat(first) || first === 'devices') throw usageFailure('Name a file.')
    return { kind: formatOf(first) ?? null, file: first }
  }
  if (!isTrackFormat(first) && first !== 'devices')
    throw usageFailure(
      `“${first}” cannot be imported: it must be ${TRACK_FORMATS.join(', ')} or devices.`,
    )
  return { kind: first, file: second }
}

const runImport = async (context: Context): Promise<ExitCode> => {
  const { kind, file } = readPositionals(context.positionals)
  if (!kind) throw usageFailure(`Say what ${file} is: perigee import gpx ${file} …`)
  const text = await readText(file)
  const isNamed = context.positionals.length > 1
  if (kind === 'devices' || (kind === 'csv' && !isNamed && isDeviceList(parseCsv(text))))
    return importDevices(context, text)
  return importTrack(context, parseTrack(kind, text), textOf(context.values, 'device'))
}

export const importFile: Command = {
  name: 'import',
  summary: 'Import the history of a device, or a list of devices, from a file.',
  usage: [
    'import gpx|csv|kml|geojson FILE --device DEVICE [--dry-run]',
    'import devices FILE.csv [--dry-run]',
    'import FILE …',
  ],
  words: [...TRACK_FORMATS, 'devices'],
  maxPositionals: 2,
  options: {
    device: {
      type: 'string',
      value: 'DEVICE',
      about: 'Whose history it is: id, identifier or name.',
    },
    'dry-run': { type: 'boolean', about: 'Check everything, and change nothing.' },
    'skip-invalid': { type: 'boolean', about: 'Import the rest although some rows are invalid.' },
    'with-alerts': {
      type: 'boolean',
      about: 'Raise the alerts that the file has again, and send their messages.',
    },
  },
  details: [
    'FILE “-” is stdin. An import can be repeated: what is stored already is left as it is.',
    'CSV of a history has a line with the names of its columns: dateTime, latitude, longitude, and others',
    'as “perigee track --csv” writes them. Without --device it needs a column deviceId or identifier.',
    'Times without an offset are in UTC, speeds in km/h.',
    'CSV of devices has the column name, and may have identifier, description, model, min, maxSpeed,',
    'expirationDate, dailyEmailLimit, dailySmsLimit and tag:NAME.',
  ],
  run: async (context) => {
    try {
      return await runImport(context)
    } catch (error) {
      if (error instanceof UnreadableFile || error instanceof XmlError)
        throw new Failure(`The file cannot be imported. ${error.message}`)
      throw error
    }
  },
}
