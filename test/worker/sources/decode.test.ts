import { expect, test } from 'vitest'
import { openAccount } from '../../support/accounts.ts'

const decode = async (body: object) => {
  const account = await openAccount()
  return account.call('POST', '/api/sources/decode', { body })
}

test('a pasted payload shows what it would become, and the provider’s reply', async () => {
  const query = 'id=123456&timestamp=1377177267&lat=60.0&lon=30.0&speed=1&batt=87'
  const { status, body } = await decode({ provider: 'osmand', query })
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    items: [
      {
        kind: 'location',
        identifier: '123456',
        key: '123456:1377177267000',
        location: {
          dateTime: '2013-08-22T13:14:27.000Z',
          latitude: 60,
          longitude: 30,
          speed: 1.852,
          battery: 87,
          source: 'gnss',
        },
      },
    ],
    failures: [],
    reply: { status: 200, contentType: null, body: '' },
  })
})

test('a pasted payload is decoded by the settings that come with it', async () => {
  const query = 'id=123456&lat=60.0&lon=30.0&speed=10'
  const { body } = await decode({ provider: 'osmand', query, settings: { speedUnit: 'm/s' } })
  expect(body.items).toMatchObject([{ location: { speed: 36 } }])
})

test('a pasted payload shows no former identifier', async () => {
  const sent = { _type: 'location', tid: 'KB', lat: 47.5, lon: 8.7, tst: 1760000000 }
  const body = JSON.stringify(sent)
  const shown = await decode({ provider: 'owntracks', query: 'u=kim&d=phone', body })
  expect(shown.body.items).toMatchObject([{ identifier: 'kim/phone' }])
  expect(shown.body.items[0]).not.toHaveProperty('formerIdentifier')
})

test('XML and signed payloads decode in the Workers runtime, also from base64', async () => {
  const xml =
    '<stuMessages messageID="7"><stuMessage><esn>0-1</esn><unixTime>1585105370</unixTime><payload>0x00C583EACD37210A00</payload></stuMessage></stuMessages>'
  const { body } = await decode({ provider: 'globalstar', bodyBase64: btoa(xml) })
  expect(body.items).toMatchObject([{ location: { latitude: -41.122062, longitude: -71.415918 } }])
  expect(body.reply.contentType).toBe('text/xml')
  const forged = await decode({
    provider: 'rockblock',
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify({ JWT: 'a.b.c' }),
  })
  expect(forged.body).toMatchObject({ items: [], failures: ['The JWT is not signed by Rock 7.'] })
})

test('a payload that cannot be read is 200 with the reason; a wrong request is 400', async () => {
  const unread = await decode({ provider: 'garmin', body: '{' })
  expect(unread).toMatchObject({ status: 200, body: { items: [] } })
  expect(unread.body.failures).toEqual(['The body is not well-formed JSON.'])
  for (const [body, pointer] of [
    [{ provider: 'nobody' }, '/provider'],
    [{ provider: 'spot', body: 'a', bodyBase64: 'YQ==' }, '/bodyBase64'],
    [{ provider: 'spot', bodyBase64: '!' }, '/bodyBase64'],
    [{ provider: 'spot', settings: { speedUnit: 'kn' } }, '/settings/speedUnit'],
    [{ provider: 'osmand', settings: { speedUnit: 'mph' } }, '/settings/speedUnit'],
    [{ provider: 'spot', headers: { 'a b': 'c' } }, '/headers'],
    [{ provider: 'spot', body: 'é'.repeat(200_000) }, '/body'],
  ] as const) {
    const { status, body: problem } = await decode(body)
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer])
  }
})
