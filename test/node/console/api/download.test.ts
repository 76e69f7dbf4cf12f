import { expect, test } from 'vitest'
import { load } from '../support/load.ts'

const { fileNameOf } = await load<{ fileNameOf: (response: Response) => string | null }>(
  'ui/download.ts',
)

const replyWith = (disposition?: string) =>
  new Response('', disposition ? { headers: { 'Content-Disposition': disposition } } : {})

test('a file keeps the letters of the name that its reply gives', () => {
  const name = 'Möwe-नाव-カモメ_2026-11-14.gpx'
  const disposition = `attachment; filename="M_we.gpx"; filename*=UTF-8''${encodeURIComponent(name)}`
  expect(fileNameOf(replyWith(disposition))).toBe(name)
})

test('a reply without a name gives none', () => {
  expect(fileNameOf(replyWith())).toBeNull()
  expect(fileNameOf(replyWith('attachment; filename="a.csv"'))).toBeNull()
})
