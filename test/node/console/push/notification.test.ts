import { describe, expect, test } from 'vitest'
import { load } from '../support/load.ts'

interface Shown {
  title: string
  options: {
    body: string
    tag?: string
    renotify?: boolean
    requireInteraction?: boolean
    actions?: { action: string }[]
    data: { alertId: string | null; link: string | null; isOutcome?: boolean }
  }
}

interface Module {
  readPayload: (sent: string) => Record<string, unknown> | null
  notificationOf: (payload: object | null) => Shown
  outcomeOf: (alert: { title: string; data: Shown['options']['data'] }, isDone: boolean) => Shown
}

const { readPayload, notificationOf, outcomeOf } = await load<Module>('worker/notification.ts')

const SENT = {
  title: 'SOS button: Tern 7',
  body: '4.2 km NE of Tavira',
  alertId: 'alr_1',
  emergency: true,
  kind: 'alert',
  link: '/a/00abcdefghjkmnpq',
  receipt: '/hooks/webpush/acc_1?message=msg_1&signature=x',
}
const show = (changes: object = {}) =>
  notificationOf(readPayload(JSON.stringify({ ...SENT, ...changes })))
const actionsOf = ({ options }: Shown) => options.actions?.map(({ action }) => action)

describe('the notification of a push', () => {
  test('has the place, both actions, and stays until somebody acts', () => {
    const shown = show()
    expect(shown).toMatchObject({
      title: SENT.title,
      options: { body: SENT.body, tag: 'alr_1', renotify: true, requireInteraction: true },
    })
    expect(actionsOf(shown)).toEqual(['acknowledge', 'open'])
    expect(shown.options.data).toEqual({ alertId: 'alr_1', link: SENT.link })
  })

  test('of an alert that is no emergency may go by itself', () => {
    expect(show({ emergency: false }).options.requireInteraction).toBe(false)
  })

  test('of a notice has nothing to acknowledge', () => {
    const shown = show({ kind: 'notice' })
    expect(actionsOf(shown)).toEqual(['open'])
    expect(shown.options.requireInteraction).toBe(false)
  })

  test('without an alert has no actions and no tag', () => {
    const shown = show({ alertId: null, link: null })
    expect(actionsOf(shown)).toEqual([])
    // Browsers refuse `renotify` without a tag.
    expect(shown.options).not.toHaveProperty('renotify')
  })

  test.each(['', 'no JSON', 'null', '{}', '{"title":""}', '{"title":7}'])(
    'of %j is shown too: browsers want one for every push',
    (sent) => {
      expect(readPayload(sent)).toBeNull()
      expect(notificationOf(readPayload(sent))).toMatchObject({ title: 'Perigee' })
    },
  )

  test.each(['https://evil.example/a/x', '//evil.example/a/x', '/api/account', 7, null])(
    'calls nothing but links and receipts: not %j',
    (path) => {
      const given = JSON.stringify({ ...SENT, link: path, receipt: path })
      expect(readPayload(given)).toMatchObject({ link: null, receipt: null })
      expect(actionsOf(show({ link: path }))).toEqual(['open'])
    },
  )
})

describe('the outcome of an acknowledgement', () => {
  const alert = { title: SENT.title, data: { alertId: 'alr_1', link: SENT.link } }

  test('takes the place of the alert', () => {
    expect(outcomeOf(alert, true)).toMatchObject({
      title: 'Acknowledged',
      options: { body: SENT.title, tag: 'alr_1', requireInteraction: false },
    })
    expect(actionsOf(outcomeOf(alert, true))).toEqual(['open'])
  })

  test('that failed stays, and can be tried again', () => {
    const shown = outcomeOf(alert, false)
    expect(shown).toMatchObject({ title: 'Not acknowledged', options: { renotify: true } })
    expect(shown.options.requireInteraction).toBe(true)
    expect(actionsOf(shown)).toEqual(['acknowledge', 'open'])
    expect(shown.options.data).toEqual({ ...alert.data, isOutcome: true })
  })
})
