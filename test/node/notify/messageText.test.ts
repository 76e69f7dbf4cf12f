import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { alertIdOf, messageId } from '../../../src/domain/alert.ts'
import { septets, toGsm7 } from '../../../src/domain/gsm7.ts'
import { toHtml } from '../../../src/notify/html.ts'
import { type AlertDetails, composeEmail } from '../../../src/notify/messageText.ts'
import { composeSms } from '../../../src/notify/smsText.ts'

const ID = 'alr_1jn7wz3h4q8v2n5t7r6m0p'

const occasion = (
  changes: {
    name?: string
    text?: string
    deviceName?: string
    latitude?: number | null
    longitude?: number | null
  } = {},
): AlertDetails => {
  const {
    name = 'SOSButton',
    text = '',
    deviceName = 'Tern 7',
    latitude = 38.7223,
    longitude = -9.1393,
  } = changes
  return {
    purpose: { kind: 'alert' },
    motion: {},
    alert: {
      id: ID,
      name,
      text,
      dateTime: Date.parse('2026-07-14T09:30:00Z'),
      latitude,
      longitude,
      positionTime: Date.parse('2026-07-14T09:30:00Z'),
      positionSource: 'reported',
      emergency: name === 'SOSButton',
      late: false,
    },
    deviceName,
    identifier: '300434060000000',
    origin: 'https://perigee.example',
  }
}

describe('an e-mail', () => {
  test('has device, alert, time in the recipient’s zone, place with a map link, and how to acknowledge', () => {
    const { subject, text } = composeEmail(occasion({ text: 'Man overboard' }), 'Europe/Lisbon')
    expect(subject).toBe('SOSButton: Tern 7')
    for (const part of [
      'SOSButton from Tern 7',
      '  | Man overboard',
      '300434060000000',
      'Tue, 14 Jul 2026, 10:30:00 GMT+1 (Europe/Lisbon)',
      '38.72230, -9.13930',
      'https://www.openstreetmap.org/?mlat=38.72230&mlon=-9.13930',
      `POST https://perigee.example/api/alerts/${ID}/acknowledge`,
    ]) {
      expect(text).toContain(part)
    }
    expect(composeEmail(occasion(), 'Asia/Kolkata').text).toContain(
      '15:00:00 GMT+5:30 (Asia/Kolkata)',
    )
  })

  test('says if the place is not known', () => {
    const { text } = composeEmail(occasion({ latitude: null, longitude: null }), 'UTC')
    expect(text).toContain('Place:   not known')
    expect(text).not.toContain('Map:')
  })

  test('has a one-line subject, and no name or text can imitate a line of ours', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.string({ unit: 'binary', maxLength: 64 }),
        (wild, wildName) => {
          const { subject, text } = composeEmail(
            occasion({ text: wild, name: wildName, deviceName: wild }),
            'UTC',
          )
          expect(subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u)
          expect([...subject].length).toBeLessThanOrEqual(150)
          expect(text.split('\n').filter((line) => line.startsWith('Place:'))).toHaveLength(1)
        },
      ),
    )
    const { subject, text } = composeEmail(
      occasion({
        deviceName: 'Tern\r\nBcc: all@example.com',
        text: 'Help\nPlace:   0, 0\r\n\r\nMap:     http://evil.example',
      }),
      'UTC',
    )
    expect(subject).toBe('SOSButton: Tern Bcc: all@example.com')
    expect(text.split('\n').filter((line) => /^(Place|Map):/.test(line))).toHaveLength(2)
  })

  test('in HTML escapes all user input, and only our map link is a link', () => {
    const nasty = `<script>alert(1)</script> "><img src=x onerror=alert(1)> https://evil.example/?mlat=1 javascript:alert(1) https://www.openstreetmap.org/?mlat="onmouseover="x`
    const html = toHtml(
      composeEmail(occasion({ deviceName: nasty, text: nasty, name: nasty }), 'UTC').text,
    )
    expect(html.match(/<[^>]*>/g)?.map((tag) => tag.replace(/ .*/s, ''))).toSatisfy(
      (tags: string[]) =>
        tags.every((tag) =>
          [
            '<!doctype',
            '<html>',
            '<body>',
            '<p',
            '<a',
            '</a>',
            '</p>',
            '</body>',
            '</html>',
          ].includes(tag),
        ),
    )
    for (const [, href] of html.matchAll(/href="([^"]*)"/g))
      expect(href).toMatch(/^https:\/\/www\.openstreetmap\.org\/\?mlat=/)
    expect(html).not.toMatch(/<[^>]*\son\w+=/)
  })
})

describe('an SMS', () => {
  test('has device, alert, time, place with a map link, and the id to acknowledge, in one segment', () => {
    const { text } = composeSms(occasion({ text: 'Man overboard' }), 'Europe/Lisbon')
    expect(text).toBe(
      `SOSButton: Tern 7, 14 Jul, 10:30 GMT+1. https://osm.org/?mlat=38.72230&mlon=-9.13930 Ack: ${ID} Man overboard`,
    )
    expect(septets(text)).toBeLessThanOrEqual(160)
  })

  test('is one segment for any Latin name and text: the text is cut first, then the name', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'aŁéñçœß~{€“–…ÿž7 '), maxLength: 200 }),
        (wild) => {
          const { text } = composeSms(
            occasion({
              deviceName: `T${wild}`,
              text: wild,
              name: `A${wild.slice(0, 60)}`,
              latitude: -88.12345,
              longitude: -178.12345,
            }),
            'America/St_Johns',
          )
          expect(septets(text)).toBeLessThanOrEqual(160)
          expect(text).toContain('https://osm.org/?mlat=-88.12345&mlon=-178.12345')
          expect(text).toContain(ID)
        },
      ),
    )
  })

  test.each(['['.repeat(40), '…'.repeat(40), '[x]'.repeat(14), '€'.repeat(64)])(
    'is one segment and has the device, even if the alert name %s grows in GSM-7',
    (name) => {
      const { text } = composeSms(
        occasion({ name, text: 'Help', latitude: -88.12345, longitude: -178.12345 }),
        'Asia/Kathmandu',
      )
      expect(septets(text)).toBeLessThanOrEqual(160)
      expect(text).toContain(': Tern 7, ')
    },
  )

  test('keeps another script and takes up to three segments', () => {
    const { text } = composeSms(
      occasion({ deviceName: '漁船一号', text: '助けて'.repeat(100) }),
      'Asia/Tokyo',
    )
    expect(text).toContain('漁船一号')
    expect(text.length).toBeLessThanOrEqual(201)
  })

  test('has no line break, whatever a name contains', () => {
    expect(composeSms(occasion({ deviceName: 'Tern\r\n7', text: 'a\nb' }), 'UTC').text).not.toMatch(
      /[\r\n]/,
    )
  })
})

test('letters outside GSM-7 are replaced by a plain spelling, letters of GSM-7 stay', () => {
  expect(toGsm7('Łódź “Ærø” — naïve Ñandú…😀')).toBe('Lodz "Ærø" - naive Ñandu...')
  expect(septets('€[]')).toBe(6)
  expect(septets('ж')).toBeNull()
})

test('a message’s id gives its alert’s id, and the messages of an alert sort by number', () => {
  const ids = [0, 1, 31, 32, 1023, 99_999].map((index) => messageId(ID, index))
  expect(ids.toSorted()).toEqual(ids)
  for (const id of ids) expect(alertIdOf(id)).toBe(ID)
})
