import { setTimeout as sleep } from 'node:timers/promises'
import { walk } from '../harness/state.mjs'
import { LIMITS } from './deeds.mjs'

const PATIENCE = 90_000

/** Until no message is on its way any more; what is cut off in the middle of a try is tried again after its lease. */
export async function untilSent(call) {
  const deadline = Date.now() + PATIENCE
  for (;;) {
    const queued = await walk(call, '/api/account/messages?status=queued', 'messages')
    if (queued.length === 0) return []
    if (Date.now() > deadline) return [`${queued.length} messages never went out`]
    await sleep(500)
  }
}

/** Every acknowledged alert is there once, no day's limit is exceeded, and what the service calls sent the provider was asked to send, once. */
export async function auditAlerts(call, devices, provider) {
  const faults = { lost: [], double: [], other: [] }
  for (const device of devices.filter(({ id, gone }) => id !== null && !gone)) {
    const alerts = await walk(call, `/api/devices/${device.id}/alerts`, 'alerts')
    const found = Map.groupBy(alerts, ({ id }) => id)
    for (const id of device.alerts)
      if (!found.has(id))
        faults.lost.push(`${device.name}: the acknowledged alert ${id} is not there`)
    if (alerts.length !== device.alerts.size)
      faults.double.push(
        `${device.name}: ${alerts.length} alerts, ${device.alerts.size} acknowledged`,
      )
    await auditLimits(call, device, alerts, faults)
  }
  const messages = await walk(call, '/api/account/messages', 'messages')
  const sent = messages.filter(({ status }) => status === 'sent')
  for (const { id, channel, text } of sent) {
    const times =
      channel === 'Email'
        ? Number(provider.emails.has(id))
        : provider.texts.filter(({ body }) => body === text).length
    if (times === 0) faults.lost.push(`${channel} ${id} is called sent, and no provider was asked`)
    if (times > 1) faults.double.push(`${channel} ${id} went out ${times} times`)
  }
  for (const { status, id } of messages)
    if (status === 'failed') faults.lost.push(`message ${id} failed`)
  return {
    ...faults,
    sent: sent.length,
    suppressed: messages.filter(({ status }) => status === 'suppressed').length,
  }
}

const CHANNELS = [
  ['Email', 'emailsSent', 'dailyEmailLimit'],
  ['SMS', 'smsSent', 'dailySmsLimit'],
]

async function auditLimits(call, device, alerts, faults) {
  const { usage } = await call('GET', `/api/devices/${device.id}/usage`)
  const deliveries = alerts.flatMap((alert) => alert.deliveries)
  for (const [channel, counter, limit] of CHANNELS) {
    const goneOut = deliveries.filter(
      (one) => one.channel === channel && one.status !== 'suppressed',
    ).length
    const counted = usage.reduce((sum, day) => sum + day[counter], 0)
    if (usage.some((day) => day[counter] > LIMITS[limit]))
      faults.other.push(`${device.name}: more than its ${channel} limit`)
    if (counted !== goneOut)
      faults.other.push(`${device.name}: ${counted} ${channel} counted, ${goneOut} gone out`)
  }
}

/** The event log: numbered without a gap, every happening once. */
export async function auditEvents(call, devices) {
  const faults = []
  const events = await walk(call, '/api/events', 'events')
  events.forEach(({ sequence }, index) => {
    if (sequence !== index + 1) faults.push(`event ${index + 1} has the number ${sequence}`)
  })
  const told = (type) =>
    Map.groupBy(
      events.filter((event) => event.type === type),
      (event) => event.data.alertId ?? event.data.deviceId,
    )
  const [created, raised] = [told('device.created'), told('alert.raised')]
  for (const { name, id, alerts } of devices.filter((device) => device.id !== null)) {
    if (created.get(id)?.length !== 1)
      faults.push(`${name} was created ${created.get(id)?.length ?? 0} times by the log`)
    for (const alert of alerts)
      if (raised.get(alert)?.length !== 1)
        faults.push(`${alert} was raised ${raised.get(alert)?.length ?? 0} times by the log`)
  }
  return { faults: faults.slice(0, 10), events: events.length }
}
