import { textOf, timeOf } from '../arguments.ts'
import type { Command } from '../command.ts'
import { download } from '../download.ts'
import { EXIT, usageFailure } from '../failure.ts'
import { writeJson } from '../terminal/output.ts'

export const exportAccount: Command = {
  name: 'export',
  summary: 'Export the whole account as one archive.',
  usage: ['export [--output FILE] [--from TIME] [--to TIME]'],
  maxPositionals: 0,
  options: {
    output: {
      type: 'string',
      short: 'o',
      value: 'FILE',
      about: 'The file; “-” is stdout. Without it, perigee-DATE.tar.gz.',
    },
    from: { type: 'string', value: 'TIME', about: 'Only locations from this time on.' },
    to: { type: 'string', value: 'TIME', about: 'Only locations up to this time.' },
  },
  details: [
    'Devices, groups, users, rules, tracks, alerts and all else of the account, without passwords, keys',
    'and secrets, with checksums. Needs a key with the scope “admin”.',
  ],
  run: async ({ values, isJson, signal, open }) => {
    const perigee = await open()
    const from = timeOf(values, 'from')
    const to = timeOf(values, 'to')
    const given = textOf(values, 'output')
    if (given === '-' && isJson) throw usageFailure('The archive itself is not JSON.')
    if (given === '-' && process.stdout.isTTY)
      throw usageFailure('The archive is not text: name a file, or pipe it to a program.')
    const day = new Date().toISOString().slice(0, 10)
    const file = given === '-' ? undefined : (given ?? `perigee-${day}.tar.gz`)
    const bytes = await download({
      open: () =>
        perigee.post('/api/account/export', {
          query: { ...(from && { from }), ...(to && { to }) },
          parseAs: 'stream',
          signal,
        }),
      format: 'archive',
      output: file,
      signal,
    })
    if (isJson) await writeJson({ file, bytes })
    return EXIT.ok
  },
}
