import { expect, test } from 'vitest'
import {
  curlOf,
  PROVIDERS,
  type Provider,
  sampleOf,
} from '../../../../console/pages/sources/samples.ts'
import { later } from '../../../../console/text/later.ts'
import { SOURCE_PROVIDERS } from '../../../../src/domain/account/source.ts'
import { Slices } from '../../../../src/http/admission/slices.ts'
import { decodePush } from '../../../../src/sources/decoding/decode.ts'
import { toPush } from '../../../../src/sources/decoding/pastedPush.ts'

const NOW = Date.UTC(2026, 10, 15, 12, 30, 15)
const URL = 'https://fleet.example/in/src_1/secret'

test('the console knows every provider, in words', () => {
  expect([...PROVIDERS].sort()).toEqual([...SOURCE_PROVIDERS].sort())
  expect(Object.keys(later.providers).sort()).toEqual([...SOURCE_PROVIDERS].sort())
})

test.each(PROVIDERS)('the sample of %s becomes a position of this minute', async (provider) => {
  const { items, failures } = await decodePush(
    provider,
    toPush({ provider, settings: {}, ...sampleOf(provider, NOW) }, NOW, new Slices()),
  )
  expect(failures).toEqual([])
  const found = items.find(({ kind }) => kind === 'location')
  expect(found?.kind === 'location' && found.location.dateTime).toBeLessThanOrEqual(NOW)
  expect(found?.kind === 'location' && found.location.dateTime).toBeGreaterThan(NOW - 60_000)
})

test('the command names what a shell and curl need', () => {
  const of = (provider: Provider) => curlOf(URL, sampleOf(provider, NOW))
  expect(of('osmand')).toBe(
    `curl '${URL}?id=my-phone&lat=60.0&lon=30.0&timestamp=1794745815&speed=10&batt=87'`,
  )
  expect(of('owntracks')).toContain("-H 'X-Limit-U: ann' -H 'X-Limit-D: phone' -d '{")
  expect(of('rockblock')).not.toContain('-H')
  expect(curlOf(URL, { body: "it's" })).toBe(`curl '${URL}' -d 'it'\\''s'`)
})
