import { type Counts, noCounts } from '../src/reportSummary.ts'
import type { Context } from './command.ts'
import { EXIT, type ExitCode, Failure, usageFailure } from './failure.ts'
import { type Checked, checkTrack } from './formats/check.ts'
import { ALARMING } from './formats/fields.ts'
import type { Point, Track } from './formats/track.ts'
import { describeCounts, isComplete, sendLocations } from './sendLocations.ts'
import { findDevice } from './session.ts'
import { note, writeJson, writeLine } from './terminal/output.ts'
import { Progress } from './terminal/progress.ts'
import { count, toLine } from './terminal/text.ts'

const MAX_SHOWN = 10

/** At most ten, and how many more there are. */
export const firstOf = (lines: readonly string[]): string[] => [
  ...lines.slice(0, MAX_SHOWN).map((line) => `  ${line}`),
  ...(lines.length > MAX_SHOWN ? [`  and ${count(lines.length - MAX_SHOWN, 'other')}`] : []),
]

const noteSkipped = ({ notes }: Track, { skipped }: Checked): void => {
  for (const text of notes) note(`Note: ${text}.`)
  if (skipped.withoutTime > 0)
    note(`Note: ${count(skipped.withoutTime, 'position has', 'positions have')} no time; left out.`)
  if (skipped.sameTime > 0)
    note(
      `Note: ${count(skipped.sameTime, 'location has', 'locations have')} the time of one before; left out.`,
    )
}

const noteAlerts = ({ points }: Track, withAlerts: boolean): void => {
  const hasAlerts = points.some(({ location }) =>
    [...ALARMING].some((name) => {
      const value = location[name]
      return Array.isArray(value) ? value.length > 0 : value === true
    }),
  )
  if (hasAlerts && !withAlerts)
    note('Note: the alerts in the file are left out. --with-alerts raises them again.')
}

const addressed = (points: Point[], deviceId: string | null): Point[] => {
  const named = new Set(
    points.flatMap(({ location }) => location.deviceId ?? location.identifier ?? []),
  )
  if (deviceId && named.size > 1)
    throw usageFailure(
      'The file has the positions of several devices. Without --device each goes to its own.',
    )
  if (deviceId)
    return points.map(({ place, location: { identifier, ...location } }) => ({
      place,
      location: { ...location, deviceId },
    }))
  const unaddressed = points.find(({ location }) => !location.deviceId && !location.identifier)
  if (unaddressed)
    throw usageFailure(`Name the device with --device: ${unaddressed.place} has no device.`)
  return points.map(({ place, location: { identifier, ...location } }) => ({
    place,
    location: location.deviceId ? location : { ...location, identifier: String(identifier) },
  }))
}

interface Result {
  checked: Checked
  counts: Counts
  isDryRun: boolean
}

const show = async ({ checked, counts, isDryRun }: Result, isJson: boolean): Promise<void> => {
  const { points, problems, skipped, from, to } = checked
  if (isJson) {
    const invalid = problems.length
    await writeJson({
      locations: points.length,
      from,
      to,
      invalid,
      ...skipped,
      isDryRun,
      ...counts,
    })
    return
  }
  const span = from ? toLine(` from ${from} to ${to}`) : ''
  await writeLine(`${count(points.length, 'location')}${span}`)
  if (isDryRun) await writeLine('Nothing was sent: this was a dry run.')
  else for (const line of describeCounts(counts)) await writeLine(`  ${line}`)
}

/** Sends what the file has; an interruption says how far it came. */
const send = async (context: Context, points: Point[], deviceId: string | null) => {
  const { signal, open } = context
  const progress = new Progress(process.stderr, 'Importing')
  let done = 0
  try {
    return await sendLocations(await open(), {
      points: addressed(points, deviceId),
      signal,
      onProgress: (sent) => {
        done = sent
        const text = `${sent.toLocaleString('en')} of ${points.length.toLocaleString('en')}`
        progress.update(text, sent / points.length)
      },
    })
  } catch (error) {
    progress.end()
    if (done > 0)
      note(
        `${count(done, 'location')} of ${points.length.toLocaleString('en')} were sent. Run the same command again for the rest.`,
      )
    throw error
  } finally {
    progress.end()
  }
}

export const importTrack = async (
  context: Context,
  track: Track,
  device: string | undefined,
): Promise<ExitCode> => {
  const { values, isJson, signal, open } = context
  const withAlerts = values['with-alerts'] === true
  const checked = checkTrack(track, { now: Date.now(), withAlerts })
  const { points, problems } = checked
  noteSkipped(track, checked)
  noteAlerts(track, withAlerts)
  if (problems.length > 0 && values['skip-invalid'] !== true)
    throw new Failure(
      `${count(problems.length, 'location is', 'locations are')} invalid. Nothing was sent; --skip-invalid sends the rest.`,
      EXIT.failed,
      firstOf(problems),
    )
  if (points.length === 0) throw new Failure('The file has no location with a time.')
  const perigee = await open()
  const found = device === undefined ? null : await findDevice(perigee, device, signal)
  const isDryRun = values['dry-run'] === true
  const deviceId = found?.id ?? null
  addressed(points, deviceId)
  const counts = isDryRun
    ? noCounts()
    : await send({ ...context, open: async () => perigee }, points, deviceId)
  await show({ checked, counts, isDryRun }, isJson)
  return isComplete(counts) && problems.length === 0 ? EXIT.ok : EXIT.failed
}
