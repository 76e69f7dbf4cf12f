import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'

const TIMES = ['0002-03-04T10:00', '0202-03-04T10:00', '2026-03-29T04:30', '2026-11-14T23:59']

/** What a field shows after these were typed, in a process of the zone. */
const shownIn = (zone: string): string[] => {
  const url = new URL('../../../../console/format/time.ts', import.meta.url)
  const script = `const { toLocalInput } = await import('${url}')
    console.log(JSON.stringify(${JSON.stringify(TIMES)}.map((one) => toLocalInput(Date.parse(one)))))
    process.exit()`
  const options = { env: { ...process.env, TZ: zone }, encoding: 'utf8' } as const
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], options))
}

describe('a field for a time', () => {
  test.each(['Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'UTC'])(
    'shows what was typed, in %s',
    (zone) => {
      expect(shownIn(zone)).toEqual(TIMES)
    },
  )
})
