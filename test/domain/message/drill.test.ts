import { expect, test } from 'vitest'
import type { MessageSummary } from '../../../src/domain/message/alert.ts'
import { summarizeDrill } from '../../../src/domain/message/drill.ts'

const message = (members: Partial<MessageSummary>): MessageSummary => ({
  id: 'msg_1',
  kind: 'alert',
  channel: 'Email',
  to: 'ana@example.com',
  status: 'sent',
  reason: null,
  resetAt: null,
  changedAt: 3000,
  userId: 'usr_1',
  contact: null,
  name: 'Ana',
  ...members,
})
const ANA = { user: 'usr_1', name: 'Ana', channel: 'Email' }

test('acceptance is reaching somebody only where there are no receipts', () => {
  const sent = [message({})]
  expect(summarizeDrill(1000, sent, () => false)).toEqual({
    reached: [{ ...ANA, seconds: 2 }],
    notReached: [],
  })
  expect(summarizeDrill(1000, sent, () => true)).toEqual({
    reached: [],
    notReached: [{ ...ANA, status: 'sent', reason: null }],
  })
  const delivered = [message({ status: 'delivered', changedAt: 8000 })]
  expect(summarizeDrill(1000, delivered, () => true).reached).toEqual([{ ...ANA, seconds: 7 }])
})

test('a person counts once for each channel, by the first message that arrived', () => {
  const messages = [
    message({ status: 'failed', reason: 'bounced' }),
    message({ kind: 'escalation', changedAt: 61_000 }),
    message({ kind: 'escalation', changedAt: 121_000 }),
    message({ channel: 'SMS', to: '+351910000001', status: 'failed', reason: 'unreachable' }),
    message({ userId: null, contact: 'Harbour', name: 'Harbour', to: 'h@example.com' }),
  ]
  expect(summarizeDrill(1000, messages, () => false)).toEqual({
    reached: [
      { ...ANA, seconds: 60 },
      { contact: 'Harbour', name: 'Harbour', channel: 'Email', seconds: 2 },
    ],
    notReached: [{ ...ANA, channel: 'SMS', status: 'failed', reason: 'unreachable' }],
  })
})

test('a time before the alert is none', () => {
  expect(summarizeDrill(5000, [message({})], () => false).reached[0]?.seconds).toBe(0)
})
