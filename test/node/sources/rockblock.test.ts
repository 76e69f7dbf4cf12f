import { describe, expect, test } from 'vitest'
import { decodePush } from '../../../src/sources/decoding/decode.ts'
import { itemsOf, jsonPush, locationsOf, pushOf } from './push.ts'

const TOKEN =
  'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJSb2NrIDciLCJpYXQiOjE1OTEyNzkxODAsImRhdGEiOiI0ODY1NmM2YzZmMjEyMDU0Njg2OTczMjA2OTczMjA2MTIwNzQ2NTczNzQyMDZkNjU3MzczNjE2NzY1MjA2NjcyNmY2ZDIwNTI2ZjYzNmI0MjRjNGY0MzRiMjEiLCJkZXZpY2VfdHlwZSI6IlJPQ0tCTE9DSyIsImltZWkiOiIzMDAyMzQwNjc2MjI4MzAiLCJpcmlkaXVtX2NlcCI6IjQ2LjAiLCJpcmlkaXVtX2xhdGl0dWRlIjoiNy4zNzU4IiwiaXJpZGl1bV9sb25naXR1ZGUiOiIxNjAuNjAyMyIsIm1vbXNuIjoiMTkzIiwic2VyaWFsIjoiMTU1ODMiLCJ0cmFuc21pdF90aW1lIjoiMjAtMDYtMDQgMTM6NTk6MzkifQ.NnwLu1HqcpDqER_K3NA2bGU_S7WZ9KflqTzpxHd4OrIpy5yirUR7LGELT7ZQC5T9Suyu34kZqv-e5DWpXRMebyxvEobhPEHlODH3nCO8Qy8w9_--UtF3uHjEqd6djzCau5aubt94Fl8WZ702H2QrRDcBiTA7oRVbG8y8FU7m4X4ei7RzfVLKDWYrDu_dym1OqUmk9QeePN4np_NQuXrbt8_UggUhZazas5znu8P-kLS7kGXjuV9MT8rLprlcSwh4b2oXyit6bnzjq0tT4cZtk9gzVPODUMBEIgFLynzO16gr2-r4sJd1ECvOytQlTNnv1TIwl2upN7eH1Lh3B0NXSw'

const EXAMPLE = {
  imei: '300234010753370',
  momsn: '12345',
  transmit_time: '21-10-31 10:41:50',
  iridium_latitude: '52.3867',
  iridium_longitude: '0.2938',
  iridium_cep: '8',
  data: '48656c6c6f20576f726c6420526f636b424c4f434b',
}
const LOCATED = {
  identifier: '300234010753370',
  dateTime: '2021-10-31T10:41:50.000Z',
  latitude: 52.3867,
  longitude: 0.2938,
  accuracy: 8000,
  source: 'network',
}

describe('RockBLOCK', () => {
  test('the documented example, as a form and as JSON', async () => {
    const form = pushOf({
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams(EXAMPLE).toString(),
    })
    for (const push of [form, jsonPush({ ...EXAMPLE, momsn: 12345, iridium_latitude: 52.3867 })]) {
      const items = await itemsOf('rockblock', push)
      expect(locationsOf(items)).toEqual([LOCATED])
      expect(items[1]).toMatchObject({ kind: 'message', text: 'Hello World RockBLOCK' })
    }
  })

  test('a check of the mailbox has no message, and bytes that are no text come as hex', async () => {
    expect(await itemsOf('rockblock', jsonPush({ ...EXAMPLE, data: '' }))).toHaveLength(1)
    const [, message] = await itemsOf('rockblock', jsonPush({ ...EXAMPLE, data: '00 ff 10' }))
    expect(message).toMatchObject({ text: '00ff10', format: 'Hex' })
  })

  test('a signed push: the claims count, not the body beside them', async () => {
    const items = await itemsOf('rockblock', jsonPush({ ...EXAMPLE, JWT: TOKEN }))
    expect(locationsOf(items)).toEqual([
      {
        identifier: '300234067622830',
        dateTime: '2020-06-04T13:59:39.000Z',
        latitude: 7.3758,
        longitude: 160.6023,
        accuracy: 46000,
        source: 'network',
      },
    ])
    expect(items[0]?.key).toBe('300234067622830:193:1591279179000')
    expect(items[1]).toMatchObject({ text: 'Hello! This is a test message from RockBLOCK!' })
  })

  const [header, claims = '', signature] = TOKEN.split('.')
  const changed = btoa(atob(claims).replace('7.3758', '8.3758')).replaceAll('=', '')
  test.each([
    ['other claims', `${header}.${changed}.${signature}`],
    ['another signature', `${header}.${claims}.${signature?.replace('N', 'M')}`],
    ['no algorithm', `${btoa('{"alg":"none"}').replaceAll('=', '')}.${claims}.`],
    ['no token at all', 'x'],
  ])('a forged JWT is refused: %s', async (_, JWT) => {
    const decoded = await decodePush('rockblock', jsonPush({ ...EXAMPLE, JWT }))
    expect(decoded).toEqual({ items: [], failures: ['The JWT is not signed by Rock 7.'] })
  })

  test('a public key used as an HMAC secret is refused', async () => {
    const head = btoa('{"alg":"HS256"}').replaceAll('=', '')
    const decoded = await decodePush('rock7', jsonPush({ JWT: `${head}.${claims}.${signature}` }))
    expect(decoded.items).toEqual([])
  })

  test('an unsigned push is refused where the source requires a signature', async () => {
    const push = { ...jsonPush(EXAMPLE), settings: { requireJwt: true } }
    expect((await decodePush('rockblock', push)).failures).toEqual([
      'The push has no JWT, which the source requires.',
    ])
  })
})
