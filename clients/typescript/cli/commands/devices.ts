import { textOf } from '../arguments.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../failure.ts'
import { type Device, noteSandbox } from '../session.ts'
import { note, writeJson, writeTable } from '../terminal/output.ts'
import type { Column } from '../terminal/table.ts'
import { count } from '../terminal/text.ts'

/** `2026-11-14 09:30`, in UTC. */
export const shortTime = (time: string | null | undefined): string =>
  time ? time.slice(0, 16).replace('T', ' ') : ''

const position = ({ lastLocation }: Device): string =>
  lastLocation ? `${lastLocation.latitude.toFixed(5)}, ${lastLocation.longitude.toFixed(5)}` : ''

const COLUMNS: Column<Device>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'IDENTIFIER', value: ({ identifier }) => identifier },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'LAST POSITION', value: position },
  { title: 'AT (UTC)', value: ({ lastLocation }) => shortTime(lastLocation?.dateTime) },
  { title: 'LAST CONTACT', value: ({ lastContact }) => shortTime(lastContact) },
  { title: 'ID', value: ({ id }) => id },
]

export const devices: Command = {
  name: 'devices',
  summary: 'List devices with their last positions.',
  usage: ['devices [SEARCH] [--state active|expired] [--group GROUP]'],
  maxPositionals: 1,
  options: {
    state: { type: 'string', value: 'STATE', about: 'Only these.', choices: ['active', 'expired'] },
    group: { type: 'string', value: 'ID', about: 'Only devices of this group, by its id.' },
  },
  details: ['SEARCH is any part of a name or identifier.'],
  run: async ({ values, positionals, isJson, signal, open }) => {
    const [contains] = positionals
    const state = textOf(values, 'state') as 'active' | 'expired' | undefined
    const group = textOf(values, 'group')
    const perigee = await open()
    const query = {
      ...(state && { state }),
      ...(group && { group }),
      ...(contains && { contains }),
    }
    const found: Device[] = []
    for await (const device of perigee.list('/api/devices', { query, signal })) {
      if (isJson) await writeJson(device)
      else found.push(device)
    }
    if (isJson) return EXIT.ok
    // A failure is ignored: the list does not depend on it.
    await perigee.get('/api/me', { signal }).then(
      ({ account }) => noteSandbox(account.sandbox),
      () => undefined,
    )
    if (found.length > 0) await writeTable(found, COLUMNS)
    note(count(found.length, 'device'))
    return EXIT.ok
  },
}
