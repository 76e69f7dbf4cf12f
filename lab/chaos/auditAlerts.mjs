import { setTimeout as sleep } from 'node:timers/promises'
import { listAll } from '../harness/http.mjs'
import { LIMITS, SOS } from './operations.mjs'

const SENT_TIMEOUT_MS = 90_000

/**
 * Waits until no message is queued. One that was interrupted while it was sent is tried again after
 * its lease.
 */
export async function waitUntilSent(call) {
  const deadline = Date.now() + SENT_TIMEOUT_MS
  for (;;) {
    const queued = await listAll(call, '/api/account/messages?status=queued', 'messages')
    if (queued.length === 0) return []
    if (Date.now() > deadline) return [`${queued.length} messages were never sent`]
    await sleep(500)
  }
}

/**
 * Every acknowledged alert exists once, no daily limit is exceeded, and the provider was asked once
 * for every message shown as sent.
 */
export async function auditAlerts(call, devices, provider) {
  const faults = { lost: [], duplicated: [], other: [] }
  for (const device of devices.filter(({ id, isDeleted }) => id !== null && !isDeleted)) {
    const listed = await listAll(call, `/api/devices/${device.id}/alerts`, 'alerts')
    const alerts = listed.filter(({ alerts: [name], ruleId }) => name !== SOS && !ruleId)
    const found = new Set(alerts.map(({ id }) => id))
    for (const id of device.alerts)
      if (!found.has(id))
        faults.lost.push(`${device.name}: the acknowledged alert ${id} is missing`)
    if (alerts.length !== device.alerts.size)
      faults.duplicated.push(
        `${device.name}: ${alerts.length} alerts, ${device.alerts.size} acknowledged`,
      )
    await auditLimits(call, device, listed, faults)
  }
  const messages = await listAll(call, '/api/account/messages', 'messages')
  const sent = messages.filter(({ status }) => status === 'sent')
  for (const { id, channel } of sent)
    if (channel === 'Email' && !provider.emails.has(id))
      faults.lost.push(`${channel} ${id} is shown as sent, but the provider never got it`)
  auditTexts(sent, provider, faults)
  for (const { status, id } of messages)
    if (status === 'failed') faults.lost.push(`message ${id} failed`)
  return {
    ...faults,
    sent: sent.length,
    suppressed: messages.filter(({ status }) => status === 'suppressed').length,
  }
}

/** Every SMS has a link of its own, which the API does not show. */
const withoutLink = (text) => text.replace(/\/a\/[0-9a-z]{16}/, '/a/…')

/** The provider got each SMS as often as messages with its text are shown as sent. */
function auditTexts(sent, provider, faults) {
  const shown = Map.groupBy(
    sent.filter(({ channel }) => channel === 'SMS'),
    ({ to, text }) => `${to} ${text}`,
  )
  const received = Map.groupBy(provider.texts, ({ to, body }) => `${to} ${withoutLink(body)}`)
  for (const [key, messages] of shown) {
    const missing = messages.length - (received.get(key)?.length ?? 0)
    const [{ id }] = messages
    if (missing > 0) faults.lost.push(`SMS ${id} is shown as sent, but the provider never got it`)
    if (missing < 0) faults.duplicated.push(`SMS ${id} was sent ${-missing} times too often`)
  }
}

/**
 * Every acknowledged report of an emergency has its alert, once, or has joined an open one; and each
 * of these alerts has a message or a notice.
 */
export async function auditEmergencies(call, devices) {
  const faults = { lost: [], duplicated: [] }
  const counts = { reports: 0, alerts: 0, joined: 0, notices: 0 }
  const notices = Map.groupBy(
    await listAll(call, '/api/account/messages', 'messages').then((messages) =>
      messages.filter(({ kind, status }) => kind === 'notice' && status !== 'suppressed'),
    ),
    ({ alertId }) => alertId,
  )
  for (const device of devices.filter(({ id, isDeleted }) => id !== null && !isDeleted)) {
    const path = `/api/devices/${device.id}/alerts?alertName=${SOS}`
    const alerts = await listAll(call, path, 'alerts')
    const times = alerts.flatMap(({ dateTime, updates }) => [
      dateTime,
      ...updates.map((update) => update.dateTime),
    ])
    for (const time of device.emergencies) {
      const found = times.filter((one) => one === time).length
      if (found === 0) faults.lost.push(`${device.name}: the emergency of ${time} raised no alert`)
      if (found > 1)
        faults.duplicated.push(`${device.name}: the emergency of ${time} is raised twice`)
    }
    const unexpected = times.filter((time) => !device.emergencies.has(time)).length
    if (unexpected > 0) faults.duplicated.push(`${device.name}: ${unexpected} emergencies too many`)
    for (const { id, deliveries } of alerts) {
      const isSent = deliveries.some(({ status }) => status !== 'suppressed')
      if (!isSent && !notices.has(id))
        faults.lost.push(`${device.name}: the emergency ${id} has neither message nor notice`)
      if (notices.has(id)) counts.notices++
    }
    counts.reports += device.emergencies.size
    counts.alerts += alerts.length
    counts.joined += times.length - alerts.length
  }
  return { ...faults, counts }
}

const CHANNELS = [
  ['Email', 'emailsSent', 'dailyEmailLimit'],
  ['SMS', 'smsSent', 'dailySmsLimit'],
]

async function auditLimits(call, device, alerts, faults) {
  const { usage } = await call('GET', `/api/devices/${device.id}/usage`)
  const deliveries = alerts.flatMap((alert) => alert.deliveries)
  for (const [channel, counter, limit] of CHANNELS) {
    const delivered = deliveries.filter(
      (one) => one.kind === 'alert' && one.channel === channel && one.status !== 'suppressed',
    ).length
    const counted = usage.reduce((sum, day) => sum + day[counter], 0)
    if (usage.some((day) => day[counter] > LIMITS[limit]))
      faults.other.push(`${device.name}: its ${channel} limit was exceeded`)
    if (counted !== delivered)
      faults.other.push(`${device.name}: ${counted} ${channel} counted, ${delivered} delivered`)
  }
}

/** The event log is numbered without gaps and has every event once. */
export async function auditEvents(call, devices) {
  const faults = []
  const events = await listAll(call, '/api/events', 'events')
  events.forEach(({ sequence }, index) => {
    if (sequence !== index + 1) faults.push(`event ${index + 1} has the sequence ${sequence}`)
  })
  const eventsOf = (type) =>
    Map.groupBy(
      events.filter((event) => event.type === type),
      (event) => event.data.alertId ?? event.data.deviceId,
    )
  const [created, raised] = [eventsOf('device.created'), eventsOf('alert.raised')]
  for (const { name, id, alerts } of devices.filter((device) => device.id !== null)) {
    if (created.get(id)?.length !== 1)
      faults.push(`the log has ${created.get(id)?.length ?? 0} device.created of ${name}`)
    for (const alert of alerts)
      if (raised.get(alert)?.length !== 1)
        faults.push(`the log has ${raised.get(alert)?.length ?? 0} alert.raised of ${alert}`)
  }
  return { faults: faults.slice(0, 10), events: events.length }
}
