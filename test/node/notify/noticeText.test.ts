import { expect, test } from 'vitest'
import { septets } from '../../../src/domain/message/gsm7.ts'
import {
  composeNoticeEmail,
  composeNoticeSms,
  type NoticeContent,
} from '../../../src/domain/message/text/noticeText.ts'

const content: NoticeContent = {
  kind: 'webhook-disabled',
  webhookId: 'whk_1jn7wz3h4q8v2n5t7r6m0p',
  url: 'https://receiver.example:8443/events?token=secret',
  reason: 'gone',
}

test('the e-mail about a disabled webhook names the webhook, its URL and the cause, without the query', () => {
  const { subject, text } = composeNoticeEmail(content, 'UTC')
  expect(subject).toBe('Webhook disabled: receiver.example:8443')
  expect(text).toContain(
    'The webhook whk_1jn7wz3h4q8v2n5t7r6m0p to receiver.example:8443/events was disabled, because its receiver answered 410 Gone.',
  )
  expect(text).not.toContain('secret')
})

test('the SMS about a disabled webhook is one segment, however long the host', () => {
  for (const host of ['a.io', `${'long-'.repeat(40)}name.example`, '[2001:db8::1]']) {
    const { subject, text } = composeNoticeSms(
      { ...content, url: `https://${host}/`, reason: 'failing' },
      'UTC',
    )
    expect(subject).toBe('')
    expect(text).toContain('was disabled, because its receiver has failed for five days.')
    expect(septets(text)).toBeLessThanOrEqual(160)
  }
})
