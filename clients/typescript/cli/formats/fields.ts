/* The members of a location that a file may have, and their ranges. The service checks them again. */

type Range = readonly [min: number, max: number]

export const NUMBERS: Readonly<Record<string, Range>> = {
  latitude: [-90, 90],
  longitude: [-180, 180],
  altitude: [-20_000, 1_000_000],
  speed: [0, 100_000],
  course: [0, 360],
  accuracy: [0, 50_000_000],
  battery: [0, 100],
  fuel: [0, 1e9],
  fuel2: [0, 1e9],
  temperature: [-273.15, 10_000],
  temperature2: [-273.15, 10_000],
  inactiveSeconds: [0, 1e12],
  rpm: [0, 1e9],
  milleage: [0, 1e12],
}
const SENSOR_TIMES = ['sensorTime1', 'sensorTime2', 'sensorTime3', 'sensorTime4']
/** JSON in a cell of a CSV file. */
export const JSON_FIELDS: ReadonlySet<string> = new Set([
  'warningTexts',
  'alertTexts',
  'alerts',
  'warnings',
  'hasCriticalAlert',
  'attributes',
  'accessoriesAttributes',
  'inputs',
  'outputs',
])

export const FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(NUMBERS),
  ...SENSOR_TIMES,
  ...JSON_FIELDS,
  'source',
])

/** These would raise an alert again, and send its messages, for something long past. */
export const ALARMING: ReadonlySet<string> = new Set(['alerts', 'hasCriticalAlert'])
