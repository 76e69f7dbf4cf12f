/*
 * Each mutant replaces the text `from` in a file of `src`, and the text `also.from` if it has one.
 * `tests` are the files that must fail; without it, those of the licenses.
 */

export const MUTANTS = [
  {
    name: 'an await between check and write',
    file: 'src/ledger/ledgerObject.ts',
    from: `    const outcome = this.transact(() => {
      const tx = beginDecision(this.sql, this.env, Date.now(), writer)
      return tx ? decide(tx) : NOT_FOUND`,
    to: `    const early = beginDecision(this.sql, this.env, Date.now(), writer)
    await scheduler.wait(1)
    const outcome = this.transact(() => {
      const tx = early
      return tx ? decide(tx) : NOT_FOUND`,
  },
  {
    name: 'off by one: a license more than there is',
    file: 'src/domain/account/license.ts',
    from: 'licenses.used + wanted <= licenses.total',
    to: 'licenses.used + wanted <= licenses.total + 1',
  },
  {
    name: 'off by one: a day too long',
    file: 'src/domain/account/license.ts',
    from: 'ends !== null && ends <= today',
    to: 'ends !== null && ends < today',
  },
  {
    name: 'double release: the sweep frees what the instant has freed',
    file: 'src/ledger/accounts/expirations.ts',
    from: "  tx.log('expired', id, at)",
    to: "  account.used -= 1\n  tx.log('expired', id, at)",
  },
  {
    name: 'double release: a deleted device frees a license that it had no more',
    file: 'src/ledger/accounts/licenseTransfer.ts',
    from: "  if (was === will) return { ok: true, became: 'same' }",
    to: "  if (after === 'absent' && !was) account.used -= 1\n  if (was === will) return { ok: true, became: 'same' }",
  },
  {
    name: 'a count kept outside the transaction',
    file: 'src/ledger/accounts/accountRow.ts',
    from: '  const row = readAccountRow(sql)\n  return row && toAccount(row)',
    to: `  const kept = sql as unknown as { used?: number }
  const row = readAccountRow(sql)
  return row && { ...toAccount(row), used: (kept.used ??= 0) }`,
    also: {
      from: '  updateRows(sql, tables.account, columns)',
      to: '  Object.assign(sql, { used: account.used })\n  updateRows(sql, tables.account, { ...columns, used: 0 })',
    },
  },
  {
    name: 'effect before commit: a device is announced before it is granted',
    file: 'src/ledger/devices/devices.ts',
    from: "  const transfer = transferLicense(tx, id, 'absent', endsOf(record.limits))",
    to: "  tx.emit('device.created', id, { name: record.name })\n  const transfer = transferLicense(tx, id, 'absent', endsOf(record.limits))",
  },
  {
    name: 'effect before commit: the cell is written before the ledger has decided',
    file: 'src/ledger/ledger.ts',
    from: '    return this.decide((tx) => devices.createDevice(tx, id, record, creator), writer)',
    to: `    const early = readAccount(this.sql)
    if (early) {
      const device = { ...record, id, key: early.number * 2 ** 24 + Math.floor(Math.random() * 2 ** 23), usage: { date: early.day, sent: {} }, creation: 0, lastModified: 0, version: 1 }
      await applyEffects(openCell(this.env, early.cell), early.id, [{ kind: 'device', device, seq: 0 }], Date.now()).catch(() => {})
    }
    return this.decide((tx) => devices.createDevice(tx, id, record, creator), writer)`,
    also: {
      from: "import * as deletion from './devices/deletion.ts'",
      to: "import { openCell } from '../db/open.ts'\nimport { readAccount } from './accounts/accountRow.ts'\nimport * as deletion from './devices/deletion.ts'\nimport { applyEffects } from './outbox/projection/applyEffects.ts'",
    },
  },
  {
    name: 'off by one: a message more than the limit',
    file: 'src/domain/account/quota.ts',
    from: 'Math.min(wanted, limit - used)',
    to: 'Math.min(wanted, limit - used + 1)',
    tests: ['ledger/dailyLimits'],
  },
  {
    name: 'a second allowance: the day as the clock has it',
    file: 'src/ledger/devices/usage.ts',
    from: '  const { day } = account\n',
    to: '  const day = new Date(now).toISOString().slice(0, 10)\n',
    also: { from: '  { sql, account }: Decision,', to: '  { sql, now }: Decision,' },
    tests: ['ledger/dailyLimits'],
  },
  {
    name: 'a second count: an alert that is repeated is raised again',
    file: 'src/ledger/alerts/raised.ts',
    from: 'findRow(sql, raised, { id })',
    to: 'findRow(sql, raised, { id, at: -1 })',
    also: {
      from: 'insertRow(sql, raised, { ...about, id, at: now })',
      to: "insertRow(sql, raised, { ...about, id, at: now }, 'ignore')",
    },
    tests: ['worker/alerts/raise'],
  },
  {
    name: 'the reserve: ordinary alerts use what is kept for emergencies',
    file: 'src/domain/account/quota.ts',
    from: 'limit - reserved + usedByEmergencies',
    to: 'limit + usedByEmergencies',
    tests: ['ledger/emergencies'],
  },
  {
    name: 'notices without a limit',
    file: 'src/ledger/devices/dailyLimit.ts',
    from: 'return reserveMessages(tx, NO_DEVICE_KEY, request).granted',
    to: 'return reserveMessages(tx, NO_DEVICE_KEY, request).granted || wanted.wanted',
    tests: ['ledger/emergencies'],
  },
  {
    name: 'thirty emergencies: none joins the open one',
    file: 'src/ledger/alerts/emergencies.ts',
    from: 'dateTime - JOIN_WITHIN_MS',
    to: 'dateTime + JOIN_WITHIN_MS + 1',
    tests: ['ledger/emergencies'],
  },
  {
    name: 'undelivered and nobody checks',
    file: 'src/ledger/alerts/emergencies.ts',
    from: 'checkAt: isOnItsWay ? now + UNDELIVERED_AFTER_MS : null',
    to: 'checkAt: isOnItsWay ? null : null',
    tests: ['ledger/emergencies'],
  },
  {
    name: 'a bounce does not arm the check of an emergency again',
    file: 'src/ledger/alerts/emergencies.ts',
    from: "if (status === 'failed') checkAgain(tx, message)",
    to: "if (status === 'failed') return",
    tests: ['ledger/emergencies'],
  },
  {
    name: 'a round after the acknowledgement',
    file: 'src/ledger/alerts/steps.ts',
    from: '  if (before.acknowledgedAt !== null) return before\n  acknowledgeEmergency(tx, step.alertId)\n',
    to: '  if (before.acknowledgedAt !== null) return before\n',
    tests: ['ledger/escalation'],
  },
  {
    name: 'a round that is sent for ever',
    file: 'src/ledger/alerts/emergencyRounds.ts',
    from: '{ round, nextRound: next }',
    to: '{ nextRound: next ?? now + escalation.afterMinutes * MINUTE_MS }',
    tests: ['ledger/escalation'],
  },
  {
    name: 'two people acknowledge the same alert',
    file: 'src/ledger/alerts/steps.ts',
    from: '  if (before.acknowledgedAt !== null) return before',
    to: '  if (before.cancelledAt !== null) return before',
    tests: ['ledger/escalation'],
  },
  {
    name: 'an expired device tells the account over and over',
    file: 'src/ledger/alerts/alerts.ts',
    from: '(!isWanted || isTooSoon(tx, device))',
    to: '!emergency',
    also: { from: 'const isTooSoon', to: 'export const isTooSoon' },
    tests: ['ledger/emergencies'],
  },
  {
    name: 'given back though it may have gone out',
    file: 'src/ledger/messages/messageState.ts',
    from: '  if (unsureSince === null) uncount(tx, before)\n',
    to: '  uncount(tx, before)\n',
    tests: ['notify/messageSender'],
  },
  {
    name: 'sent twice: another key on every try',
    file: 'src/ledger/messages/messageSender.ts',
    from: '{ key, accountId, to,',
    to: '{ key: key + row.attempts, accountId, to,',
    tests: ['notify/messageSender'],
  },
  {
    name: 'lost: a try that is not made again after a crash',
    file: 'src/ledger/messages/messageQueue.ts',
    from: 'const nextTry = now + Math.max(leaseMs, retryDelayMs(attempts, row.urgent, 0))',
    to: 'const nextTry = null',
    tests: ['notify/messageSender'],
  },
  {
    name: 'reached: a voice mailbox has answered a call',
    file: 'src/notify/twilioVoice.ts',
    from: "return { ...about, status: 'failed'",
    to: "return { ...about, status: 'delivered'",
    tests: ['notify/voice'],
  },
  {
    name: 'sent twice: a notice that is requested again is sent again',
    file: 'src/ledger/messages/notices.ts',
    from: '  if (hasRow(tx.sql, notices, { id })) return { ok: true }\n',
    to: "  tx.sql.exec('DELETE FROM notices WHERE id = ?', id)\n",
    tests: ['notify/notices'],
  },
  {
    name: 'a receipt of a notification that anybody can write',
    file: 'src/notify/webPush.ts',
    from: 'if (!(await isSignature(env, receiptText(accountId, key), signature))) return null',
    to: 'if (signature.length !== 43) return null',
    also: {
      from: 'import { isSignature, sign } from',
      to: 'import { sign } from',
    },
    tests: ['notify/webPush'],
  },
  {
    name: 'a browser that is gone keeps its subscription',
    file: 'src/notify/webPush.ts',
    from: '    await deleteGoneSubscription(db, subscription)\n',
    to: '',
    tests: ['notify/webPush'],
  },
  {
    name: 'private networks: redirects of a receiver are followed',
    file: 'src/feed/webhooks/attempt.ts',
    from: "redirect: 'manual'",
    to: "redirect: 'follow'",
    tests: ['worker/webhooks/retries'],
  },
  {
    name: 'private networks: the URL is not checked again before the call',
    file: 'src/feed/webhooks/attempt.ts',
    from: 'if (!checkPublicUrl(url, allowsLoopback(env)).ok)',
    to: "if (url === '')",
    tests: ['worker/webhooks/lifecycle'],
  },
  {
    name: 'delivered twice: a delivery is created and the cursor stays',
    file: 'src/feed/webhooks/webhookWorker.ts',
    from: '        advanceCursor(sql, webhook, upTo)\n        return',
    to: '        return',
    tests: ['worker/webhooks/deliveries'],
  },
  {
    name: 'out of sequence: later events overtake a delivery that waits for its next attempt',
    file: 'src/feed/webhooks/webhookWorker.ts',
    from: '  const pending = pendingDelivery(sql, webhook.id)\n  if (pending &&',
    to: '  const due = pendingDelivery(sql, webhook.id)\n  const pending = due && (due.nextAttempt ?? 0) <= Date.now() ? due : undefined\n  if (pending &&',
    tests: ['worker/webhooks/retries'],
  },
  {
    name: 'a gap: an attempt that a crash interrupted is not repeated',
    file: 'src/feed/webhooks/webhookWorker.ts',
    from: 'beginAttempt(sql, batch.delivery, startedAt, startedAt + ATTEMPT_LEASE_MS)',
    to: 'beginAttempt(sql, batch.delivery, startedAt, null)',
    tests: ['worker/webhooks/deliveries'],
  },
  {
    name: 'receivers that hang take the connections that the feed needs for D1',
    file: 'src/feed/webhooks/webhookWorker.ts',
    from: 'const MAX_CALLS = 4',
    to: 'const MAX_CALLS = 40',
    tests: ['worker/webhooks/slots'],
  },
  {
    name: 'visibility: a confined user gets the events of every device',
    file: 'src/feed/streams/subscriber.ts',
    from: 'passes(subscriber.filter, subscriber.groupId, event)',
    to: 'passes(subscriber.filter, null, event)',
    tests: ['worker/stream/events'],
  },
  {
    name: 'a stream stays open after its key was deleted without a poke',
    file: 'src/feed/streams/streams.ts',
    from: "      if (!principal) this.close(socket, 'unauthorized')",
    to: '      if (!principal) continue',
    tests: ['worker/stream/access'],
  },
  {
    name: 'a gap: events beyond the capacity of a slow subscriber are skipped',
    file: 'src/feed/streams/subscriber.ts',
    from: 'readUpTo: texts.length < wanted.length ? last : range.to',
    to: 'readUpTo: range.to',
    tests: ['node/feed/subscriber'],
  },
  {
    name: 'unread: a client acknowledges what it has not read with an ack of its own making',
    file: 'src/feed/streams/ack.ts',
    from: 'return (await makeAck(env, streamId, progress)) === ack ? progress : null',
    to: 'return progress',
    tests: ['worker/stream/acks'],
  },
  {
    name: 'unread: the streams of an account have no common limit of bytes in flight',
    file: 'src/feed/streams/streams.ts',
    from: 'maxUnackedBytes(MAX_TOTAL_UNACKED_BYTES - this.#inFlight.total)',
    to: 'maxUnackedBytes(MAX_TOTAL_UNACKED_BYTES)',
    tests: ['worker/stream/acks'],
  },
  {
    name: 'joined calls: each request gets the results of the first',
    file: 'src/db/join.ts',
    from: '        at += statements.length\n',
    to: '',
    tests: ['node/db/join'],
  },
  {
    name: 'joined calls: a write that may be stored is made again',
    file: 'src/db/join.ts',
    from: 'calls.length > 1 && mayRepeat(call)',
    to: 'calls.length > 1',
    tests: ['node/db/join'],
  },
  {
    name: 'places: without the file of towns no alert is raised',
    file: 'src/places/store.ts',
    from: 'work.catch(() => otherwise)',
    to: 'work',
    tests: ['worker/places'],
  },
  {
    name: 'watches: the sweep undoes a check-in that came after it has read',
    file: 'src/watches/rows.ts',
    from: "member('before.state')",
    to: 'watches.state',
    also: { from: "member('before.lastCheckIn')", to: 'watches.lastCheckIn' },
    tests: ['worker/watches/sweep'],
  },
  {
    name: 'watches: an alert is raised though the watch was written meanwhile',
    file: 'src/watches/rows.ts',
    from: "member('raise.alert.id')} IS NOT NULL AND",
    to: "member('raise.alert.id')} IS NOT NULL OR",
    tests: ['worker/watches/sweep'],
  },
  {
    name: 'off by one: a watch is overdue an instant after its grace ends',
    file: 'src/domain/watch/watch.ts',
    from: 'overdueAt(watch, found) <= now',
    to: 'overdueAt(watch, found) < now',
    tests: ['worker/watches/sweep'],
  },
  {
    name: 'check-ins: a repeat of the push moves the deadline again',
    file: 'src/sources/push/checkIns.ts',
    from: 'isNull(commands.answer)',
    to: 'sql`true`',
    tests: ['worker/watches/byMessage'],
  },
  {
    name: 'check-ins: what was said before an extension ends the watch',
    file: 'src/domain/watch/watch.ts',
    from: 'since: Math.max(progress.since, at)',
    to: 'since: progress.since',
    tests: ['worker/watches/byMessage'],
  },
]
