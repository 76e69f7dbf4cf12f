import type { Perigee } from '../src/index.ts'
import type { Context } from './command.ts'
import { EXIT, type ExitCode, Failure } from './failure.ts'
import { type DeviceRow, readDevices } from './formats/devices.ts'
import { firstOf } from './importTrack.ts'
import { note, writeJson, writeLine, writeTable } from './terminal/output.ts'
import { Progress } from './terminal/progress.ts'
import type { Column } from './terminal/table.ts'
import { count } from './terminal/text.ts'

interface Planned extends DeviceRow {
  action: 'create' | 'exists'
  /** The device that it is, or has become. */
  id: string | null
}

const COLUMNS: Column<Planned>[] = [
  { title: 'LINE', value: ({ line }) => line, isNumber: true },
  { title: 'NAME', value: ({ body }) => body.name },
  { title: 'IDENTIFIER', value: ({ body }) => body.identifier },
  { title: 'ACTION', value: ({ action }) => (action === 'create' ? 'create' : 'none: it exists') },
]

/** A device is known by its identifier or, where the file has none, by its name. */
const planRows = async (
  perigee: Perigee,
  rows: DeviceRow[],
  signal: AbortSignal,
): Promise<Planned[]> => {
  const byIdentifier = new Map<string, string>()
  const byName = new Map<string, string>()
  for await (const { id, name, identifier } of perigee.list('/api/devices', { signal })) {
    if (identifier) byIdentifier.set(identifier.toLowerCase(), id)
    byName.set(name, id)
  }
  return rows.map((row) => {
    const { identifier, name } = row.body
    const id =
      (identifier ? byIdentifier.get(identifier.trim().toLowerCase()) : byName.get(name.trim())) ??
      null
    return { ...row, action: id === null ? 'create' : 'exists', id }
  })
}

/** Devices that begin expired need none, so the service decides in the end. */
const checkLicenses = async (perigee: Perigee, wanted: number, signal: AbortSignal) => {
  const { account } = await perigee.get('/api/account', { signal })
  const { available, total } = account.licenses
  const text = `${count(wanted, 'device')} to create, ${count(available, 'license')} of ${total} free.`
  return { isEnough: wanted <= available, text }
}

const createRows = async (perigee: Perigee, planned: Planned[], signal: AbortSignal) => {
  const wanted = planned.filter(({ action }) => action === 'create')
  const progress = new Progress(process.stderr, 'Creating')
  let created = 0
  try {
    for (const row of wanted) {
      signal.throwIfAborted()
      const { device } = await perigee.post('/api/devices', { body: row.body, signal })
      row.id = device.id
      created++
      progress.update(`${created} of ${wanted.length}`, created / wanted.length)
    }
  } catch (error) {
    progress.end()
    const line = wanted[created]?.line
    note(
      `${count(created, 'device')} of ${wanted.length} were created; line ${line} was not. Run the same command again for the rest.`,
    )
    throw error
  } finally {
    progress.end()
  }
  return created
}

const show = async (planned: Planned[], created: number, context: Context): Promise<void> => {
  const isDryRun = context.values['dry-run'] === true
  if (context.isJson) {
    for (const { line, body, action, id } of planned)
      await writeJson({ line, name: body.name, identifier: body.identifier ?? null, action, id })
    return
  }
  if (isDryRun) await writeTable(planned, COLUMNS)
  const exist = planned.filter(({ action }) => action === 'exists').length
  await writeLine(
    isDryRun
      ? `Nothing was changed: this was a dry run. ${planned.length - exist} would be created, ${exist} exist.`
      : `${count(created, 'device')} created, ${exist} existed already.`,
  )
}

export const importDevices = async (context: Context, text: string): Promise<ExitCode> => {
  const { values, signal, open } = context
  const { rows, problems } = readDevices(text)
  if (problems.length > 0 && values['skip-invalid'] !== true)
    throw new Failure(
      `${count(problems.length, 'problem')} in the file. Nothing was created; --skip-invalid creates the rest.`,
      EXIT.failed,
      firstOf(problems),
    )
  const perigee = await open()
  const planned = await planRows(perigee, rows, signal)
  const wanted = planned.filter(({ action }) => action === 'create').length
  const licenses = await checkLicenses(perigee, wanted, signal)
  const isDryRun = values['dry-run'] === true
  if (!licenses.isEnough && !isDryRun)
    throw new Failure(`The account has too few licenses: ${licenses.text} Nothing was created.`)
  if (isDryRun) note(licenses.text)
  const created = isDryRun ? 0 : await createRows(perigee, planned, signal)
  await show(planned, created, context)
  return licenses.isEnough && problems.length === 0 ? EXIT.ok : EXIT.failed
}
