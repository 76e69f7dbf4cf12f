import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { alertIdOf, messageId, type PositionSource } from '../../../src/domain/message/alert.ts'
import { septets, toGsm7 } from '../../../src/domain/message/gsm7.ts'
import { fillLink, LINK_MARK } from '../../../src/domain/message/link.ts'
import {
  type AlertDetails,
  composeEmail,
  type Purpose,
} from '../../../src/domain/message/text/messageText.ts'
import {
  composeNoticeEmail,
  composeNoticeSms,
} from '../../../src/domain/message/text/noticeText.ts'
import { composeSms } from '../../../src/domain/message/text/smsText.ts'
import { toHtml } from '../../../src/notify/html.ts'

const ID = 'alr_1jn7wz3h4q8v2n5t7r6m0p'

const AT = Date.parse('2026-07-14T09:30:00Z')
const MINUTE = 60_000
const DAY = 1440 * MINUTE
const LINK = '00abcdefghjkmnpq'
/** As long as PUBLIC_URL may be. */
const LONGEST_ORIGIN = `https://${'a'.repeat(20)}.example.com`.padEnd(40, 'm')

interface Changes extends Partial<Omit<AlertDetails, 'alert'>> {
  name?: string
  text?: string
  latitude?: number | null
  longitude?: number | null
  positionTime?: number | null
  positionSource?: PositionSource
  place?: string | null
}

const occasion = (changes: Changes = {}): AlertDetails => {
  const { name = 'SOSButton', text = '', latitude = 38.7223, longitude = -9.1393 } = changes
  const { positionTime = AT, positionSource = 'reported', place = null, ...rest } = changes
  const { purpose = { kind: 'alert' }, motion = {}, deviceName = 'Tern 7' } = rest
  const { identifier = '300434060000000', origin = 'https://perigee.example' } = rest
  return {
    purpose,
    motion,
    alert: {
      id: ID,
      name,
      text,
      dateTime: AT,
      latitude,
      longitude,
      positionTime,
      positionSource,
      place,
      emergency: name === 'SOSButton',
      late: false,
    },
    deviceName,
    identifier,
    origin,
  }
}
const NOWHERE: Changes = {
  latitude: null,
  longitude: null,
  positionTime: null,
  positionSource: 'none',
}
const EXPIRED = { kind: 'undelivered', reason: 'device-expired' } as const
const PURPOSES: Purpose[] = [
  { kind: 'alert' },
  { kind: 'escalation', round: 3 },
  { kind: 'cancelled' },
  EXPIRED,
  { kind: 'undelivered', reason: 'daily-limit-reached' },
  { kind: 'undelivered', reason: 'nobody-to-tell' },
  { kind: 'undelivered', reason: 'not-accepted' },
  { kind: 'undelivered', reason: 'not-delivered' },
]
const sentSms = (details: AlertDetails, timeZone: string): string =>
  fillLink(composeSms(details, timeZone).text, LINK)

describe('an e-mail', () => {
  test('has device, alert, time in the recipient’s zone, place with a map link, and how to acknowledge', () => {
    const { subject, text } = composeEmail(occasion({ text: 'Man overboard' }), 'Europe/Lisbon')
    expect(subject).toBe('SOS button: Tern 7')
    for (const part of [
      'SOS button from Tern 7',
      '  | Man overboard',
      '300434060000000',
      'Tue, 14 Jul 2026, 10:30:00 GMT+1 (Europe/Lisbon)',
      '38.72230, -9.13930',
      'https://www.openstreetmap.org/?mlat=38.72230&mlon=-9.13930',
      `\nhttps://perigee.example/a/${LINK_MARK}\n`,
    ]) {
      expect(text).toContain(part)
    }
    expect(composeEmail(occasion(), 'Asia/Kolkata').text).toContain(
      '15:00:00 GMT+5:30 (Asia/Kolkata)',
    )
  })

  test('has the place in words below the coordinates, of a later message those of the newest', () => {
    const place = '4.2 km NE of Leixões'
    const old = { positionSource: 'last-known', positionTime: AT - DAY, place } as const
    expect(composeEmail(occasion(old), 'UTC').text).toContain(`
Place:    38.72230, -9.13930
          4.2 km NE of Leixões
          Last known position, 1 day before the alert
Map:      `)
    const newest = {
      latitude: 1,
      longitude: 2,
      time: AT,
      source: 'location',
      words: 'in X',
    } as const
    const later = { ...occasion({ place }), newest, sentAt: AT + DAY }
    expect(composeEmail(later, 'UTC').text).toContain(`
Place:    1.00000, 2.00000
          in X
          Newest position, 1 day old
Map:      `)
    const unnamed = composeEmail({ ...later, newest: { ...newest, words: null } }, 'UTC').text
    expect(unnamed).not.toContain('Leixões')
  })

  test('says if the place is not known', () => {
    const { text } = composeEmail(occasion(NOWHERE), 'UTC')
    expect(text).toContain('Place:    no position known')
    expect(text).not.toMatch(/Map:|Speed:/)
  })

  test.each([
    [3 * DAY + 1000, '3 days before'],
    [DAY, '1 day before'],
    [DAY - 1, '23 hours before'],
    [90 * MINUTE, '1 hour before'],
    [59 * MINUTE, '59 minutes before'],
    [30_000, 'less than a minute before'],
    [-2 * DAY, '2 days after'],
  ])('says how old a last known position is (%i ms)', (age, words) => {
    const old = { positionSource: 'last-known', positionTime: AT - age } as const
    const { text } = composeEmail(occasion(old), 'UTC')
    expect(text).toContain(`\n          Last known position, ${words} the alert\n`)
    expect(composeEmail(occasion(), 'UTC').text).not.toContain('Last known')
  })

  test('says speed, course and accuracy where they are known', () => {
    const motion = { speed: 12.54, course: 270, accuracy: 10 }
    const { text } = composeEmail(occasion({ motion }), 'UTC')
    for (const line of ['Speed:    12.5 km/h', 'Course:   270°', 'Accuracy: 10 m'])
      expect(text).toContain(`\n${line}\n`)
    expect(composeEmail(occasion({ motion: { course: 0 } }), 'UTC').text).toContain('Course:   0°')
    expect(composeEmail(occasion(), 'UTC').text).not.toMatch(/Speed|Course|Accuracy/)
  })

  test.each([
    [{ kind: 'escalation', round: 2 }, 'Not acknowledged yet (reminder 2): SOS button from Tern 7'],
    [{ kind: 'cancelled' }, 'Cancelled, false alarm: SOS button from Tern 7'],
    [EXPIRED, 'Tern 7, whose license has expired, sent an SOS'],
    [
      { kind: 'undelivered', reason: 'daily-limit-reached' },
      'Tern 7 sent an SOS, and nobody was told: the device has reached its daily limits',
    ],
    [
      { kind: 'undelivered', reason: 'nobody-to-tell' },
      'Tern 7 sent an SOS, and nobody was told: no user receives its alerts',
    ],
    [
      { kind: 'undelivered', reason: 'not-accepted' },
      'Tern 7 sent an SOS, and nobody was told: no provider has accepted its messages',
    ],
  ] as [Purpose, string][])('says first why it was sent (%j)', (purpose, headline) => {
    const { subject, text } = composeEmail(occasion({ purpose }), 'UTC')
    expect([subject, text.split('\n', 1)[0]]).toEqual([headline, headline])
    expect(text).toContain(LINK_MARK)
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
    expect(subject).toBe('SOS button: Tern Bcc: all@example. com')
    expect(text.split('\n').filter((line) => /^(Place|Map):/.test(line))).toHaveLength(2)
  })

  test('has no link in identifiers, and notices of unknown devices have none either', () => {
    const identifier = 'evil.example/x'
    const place = { dateTime: AT, latitude: null, longitude: null }
    const notice = { kind: 'unclaimed-sos', sourceName: 'Tern', identifier, ...place } as const
    for (const { subject, text } of [
      composeEmail(occasion({ identifier }), 'UTC'),
      composeNoticeEmail(notice, 'UTC'),
      composeNoticeSms(notice, 'UTC'),
    ]) {
      expect(subject).not.toContain('evil.example')
      expect(text).not.toContain('evil.example')
      expect(text).toContain('evil. example')
    }
  })

  test('in HTML has its link as a link, and no other text can make one', () => {
    const own = `https://perigee.example/a/${LINK}`
    const imitated = `https://evil.example/a/${LINK}`
    const email = composeEmail(
      occasion({ text: `x\n${imitated}\n`, name: imitated, deviceName: imitated }),
      'UTC',
    )
    const html = toHtml(fillLink(email.text, LINK))
    const targets = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)
    expect(targets.filter((href) => !href?.startsWith('https://www.openstreetmap.org/'))).toEqual([
      own,
    ])
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
  test('has device, alert, time, coordinates and its link, and no map link', () => {
    expect(sentSms(occasion({ text: 'Man overboard' }), 'Europe/Lisbon')).toBe(
      `SOS button: Tern 7, 14 Jul, 10:30 GMT+1. 38.72230,-9.13930 https://perigee.example/a/${LINK} Man overboard`,
    )
  })

  test('has the place in words if they fit beside the text, in its alphabet, and whole', () => {
    const place = '4.2 km NE of Leixões'
    const spelled = '4.2 km NE of Leixoes'
    expect(sentSms(occasion({ place, text: 'Help' }), 'UTC')).toMatch(
      new RegExp(`/a/${LINK} ${spelled} Help$`),
    )
    const motion = { speed: 12.5, course: 270, accuracy: 10 }
    expect(sentSms(occasion({ place, motion }), 'UTC')).toMatch(
      new RegExp(` ${spelled} 12.5 km/h, 270 deg, \\+-10 m$`),
    )
    const long = sentSms(occasion({ place, text: 'Help '.repeat(20) }), 'UTC')
    expect(long).toContain(' Help Help')
    expect(long).not.toContain('4.2 km')
    expect(sentSms(occasion({ place: 'in 港', text: 'Help' }), 'UTC')).toMatch(/ Help$/)
    expect(septets(sentSms(occasion({ place: 'in 港' }), 'UTC'))).toBeLessThanOrEqual(160)
    const foreign = occasion({ place: 'in 港', deviceName: '漁船一号' })
    expect(sentSms(foreign, 'UTC')).toMatch(/ in 港$/)
    const cancelled = occasion({ place, purpose: { kind: 'cancelled' } })
    expect(sentSms(cancelled, 'UTC')).not.toContain(spelled)
    const newest = {
      latitude: 1,
      longitude: 2,
      time: AT,
      source: 'update',
      words: 'in Lagos',
    } as const
    const later = sentSms({ ...occasion({ place }), newest, sentAt: AT }, 'UTC')
    expect(later).toMatch(/ in Lagos First: 38\.72230,-9\.13930$/)
  })

  test('says how old a last known position is, or that none is known, and how the device moves', () => {
    const old = { positionSource: 'last-known', positionTime: AT - 3 * DAY } as const
    expect(sentSms(occasion(old), 'UTC')).toContain('Last known 3 d before: 38.72230,-9.13930 ')
    expect(sentSms(occasion({ ...old, positionTime: AT - 1000 }), 'UTC')).toContain(
      'Last known <1 min before: ',
    )
    expect(sentSms(occasion(NOWHERE), 'UTC')).toContain('. No position known. https://')
    const motion = { speed: 12.5, course: 270, accuracy: 10 }
    expect(sentSms(occasion({ motion }), 'UTC')).toMatch(/ 12\.5 km\/h, 270 deg, \+-10 m$/)
    expect(sentSms(occasion({ ...NOWHERE, motion }), 'UTC')).not.toContain('km/h')
  })

  test.each([
    [{ kind: 'escalation', round: 1 }, 'No reply yet: SOS button: Tern 7, '],
    [{ kind: 'cancelled' }, 'False alarm: SOS button: Tern 7, '],
    [EXPIRED, 'Expired: SOS button: Tern 7, '],
    [{ kind: 'undelivered', reason: 'not-accepted' }, 'Nobody told: SOS button: Tern 7, '],
  ] as [Purpose, string][])('says first why it was sent (%j)', (purpose, start) => {
    expect(sentSms(occasion({ purpose }), 'UTC').slice(0, start.length)).toBe(start)
  })

  test('is one segment for the longest address, any Latin names, place, age and purpose', () => {
    expect(LONGEST_ORIGIN).toHaveLength(40)
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'aŁéñçœß~{€“–…ÿž7 '), maxLength: 200 }),
        fc.constantFrom(...PURPOSES),
        fc.constantFrom(0, 59 * MINUTE, 3 * DAY, 9800 * DAY),
        (wild, purpose, age) => {
          const details = occasion({
            deviceName: `T${wild}`,
            text: wild,
            name: `A${wild.slice(0, 63)}`,
            latitude: -88.12345,
            longitude: -178.12345,
            origin: LONGEST_ORIGIN,
            positionSource: age === 0 ? 'reported' : 'last-known',
            positionTime: AT - age,
            place: `in ${wild}`,
            motion: { speed: 99_999.9, course: 359.9, accuracy: 50_000_000 },
            purpose,
          })
          for (const timeZone of ['Pacific/Chatham', 'America/St_Johns', 'UTC']) {
            const text = sentSms(details, timeZone)
            expect(septets(text), text).toBeLessThanOrEqual(160)
            expect(text).toContain(`${LONGEST_ORIGIN}/a/${LINK}`)
            expect(text).toMatch(/A.*: T/)
            if (purpose.kind !== 'cancelled') expect(text).toContain('-88.12345,-178.12345')
          }
        },
      ),
    )
  })

  test('in the worst case still has twenty characters for the names', () => {
    const details = occasion({
      name: 'N'.repeat(64),
      deviceName: 'D'.repeat(100),
      latitude: -88.12345,
      longitude: -178.12345,
      origin: LONGEST_ORIGIN,
      positionSource: 'last-known',
      positionTime: AT - 9800 * DAY,
      purpose: { kind: 'escalation', round: 1 },
    })
    const text = sentSms(details, 'Pacific/Chatham')
    expect(septets(text)).toBeLessThanOrEqual(160)
    expect(text).toMatch(/N{8,}\.\.: D{6,}\.\., 14 Jul, 22:15\. /)
  })

  test.each(['['.repeat(40), '…'.repeat(40), '[x]'.repeat(14), '€'.repeat(64)])(
    'is one segment and has the device, even if the alert name %s grows in GSM-7',
    (name) => {
      const text = sentSms(
        occasion({ name, text: 'Help', latitude: -88.12345, longitude: -178.12345 }),
        'Asia/Kathmandu',
      )
      expect(septets(text)).toBeLessThanOrEqual(160)
      expect(text).toContain(': Tern 7, ')
    },
  )

  test('keeps another script and takes up to three segments', () => {
    const text = sentSms(
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
