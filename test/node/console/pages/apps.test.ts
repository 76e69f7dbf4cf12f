import { expect, test } from 'vitest'
import { appsOf, templateOf } from '../../../../console/pages/sources/apps/templates.ts'
import { PROVIDERS } from '../../../../console/pages/sources/samples.ts'
import { later } from '../../../../console/text/later.ts'
import { Slices } from '../../../../src/http/admission/slices.ts'
import { decodePush } from '../../../../src/sources/decoding/decode.ts'
import { toPush } from '../../../../src/sources/decoding/pastedPush.ts'

const NOW = Date.UTC(2026, 10, 15, 12, 30, 15)
/** What the apps put in the place of their variables, in m/s. */
const SENT: Record<string, string> = {
  '{0}': '59.5',
  '{1}': '24.5',
  '{2}': String(NOW),
  '{3}': '7',
  '{4}': '31',
  '{5}': '10',
  '{6}': '90',
  '%LAT': '59.5',
  '%LON': '24.5',
  '%TIMESTAMP': String(NOW / 1000),
  '%ACC': '7',
  '%ALT': '31',
  '%SPD': '10',
  '%DIR': '90',
  '%BATT': '87',
}

test('every app has its words', () => {
  const names = PROVIDERS.flatMap((provider) => appsOf(provider).map(({ name }) => name))
  expect(Object.keys(later.apps).sort()).toEqual([...names].sort())
})

test.each(['osmand', 'gpsLogger'])(
  'the template of %s becomes what the app sends',
  async (name) => {
    const app = appsOf('osmand').find((one) => one.name === name)
    if (!app?.speedUnit) throw new Error('no app')
    const template = templateOf(app, ' ann’s phone & co ')
    const query = template.slice(1).replaceAll(/\{\d\}|%[A-Z]+(?=&|$)/g, (one) => SENT[one] ?? one)
    const settings = { speedUnit: app.speedUnit }
    const push = toPush({ provider: 'osmand', settings, query }, NOW, new Slices())
    const { items, failures } = await decodePush('osmand', push)
    expect(failures).toEqual([])
    expect(items).toMatchObject([
      {
        kind: 'location',
        identifier: 'ann’s phone & co',
        location: {
          dateTime: NOW,
          latitude: 59.5,
          longitude: 24.5,
          altitude: 31,
          speed: 36,
          course: 90,
          accuracy: 7,
        },
      },
    ])
  },
)
