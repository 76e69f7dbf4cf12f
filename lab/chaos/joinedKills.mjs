import { listAll, openAccount } from '../harness/http.mjs'
import { auditDevices } from './audit.mjs'
import { auditEvents } from './auditAlerts.mjs'
import { expectedDevice, OPERATIONS, recordReply, sendOnce } from './operations.mjs'
import { watchZone } from './zone.mjs'

/*
 * Reports of several devices and accounts, which the Worker joins into one commit. The server is
 * killed before or after it: each report is whole or absent, and sent again it is stored once.
 */

const ACCOUNTS = 3
const DEVICES_PER_ACCOUNT = 4
/** How many locations the reports have that a device sends at the same time. */
const REPORT_SIZES = [1, 3]
const [BEFORE, AFTER] = ['before a joined commit', 'after a joined commit']
/** Of these joined commits one is interrupted, so that others before it are acknowledged. */
const MAX_JOINED = 3
/** Each usually has one joined commit or more. */
const MAX_ROUNDS = 10
/** At the same time: more may be refused. */
const MAX_REPEATED = 48

export const JOINED_VARS = { ALLOW_LOOPBACK_WEBHOOKS: 'true' }

export async function runJoinedKills({ server, adminToken, failPoints, kills, random, progress }) {
  const accounts = []
  for (let number = 0; number < ACCOUNTS; number++)
    accounts.push(await openReporting(server.base, adminToken, failPoints.url, number))
  const run = {
    server,
    failPoints,
    accounts,
    reports: [],
    faults: [],
    kills: 0,
    whole: 0,
    absent: 0,
  }
  for (let kill = 0; kill < kills; kill++) {
    const point = kill % 2 === 0 ? BEFORE : AFTER
    // After a start the Worker joins only statements that have run once.
    const sent = await sendRound(run)
    const isKilled = await sendUntilKilled(run, point, random.int(1, MAX_JOINED), sent)
    run.reports.push(...sent)
    if (!isKilled) break
    await server.start()
    run.kills++
    const found = await findStored(sent)
    const { whole, absent, faults } = compareReports(sent, found, point)
    run.whole += whole
    run.absent += absent
    run.faults.push(...faults)
    await repeat(run, sent, found)
    progress(`${kill + 1} of ${kills} kills: ${point}`)
  }
  await repeat(run, run.reports, await findStored(run.reports))
  return run
}

/** A webhook wants the events of reports. In the first account a rule evaluates them. */
async function openReporting(base, adminToken, url, number) {
  const members = { userName: `joined-${number}`, licenses: DEVICES_PER_ACCOUNT }
  const account = { ...(await openAccount(base, adminToken, members)), devices: [] }
  await account.call('POST', '/api/webhooks', { url, events: ['location.reported'] })
  if (number === 0) await watchZone(account.call)
  for (let index = 0; index < DEVICES_PER_ACCOUNT; index++) {
    const device = { ...expectedDevice(`Device ${number}-${index}`), account }
    const create = OPERATIONS.create.prepare(device)
    recordReply(create, await sendOnce(base, account.token, create))
    account.devices.push(device)
  }
  return account
}

/** Without a key, which a repeat would have to wait for: the reply shows what was stored before. */
const prepareReport = (device, size) => ({
  ...OPERATIONS.report.prepare(device, size),
  key: undefined,
})

const sendOf = ({ server }, request) => sendOnce(server.base, request.device.account.token, request)

/** Sends reports and reads of all devices at the same time. Returns the reports. */
async function sendRound(run) {
  // Devices of different accounts in turn.
  const devices = Array.from({ length: DEVICES_PER_ACCOUNT }).flatMap((_, index) =>
    run.accounts.map((account) => account.devices[index]),
  )
  const reports = REPORT_SIZES.flatMap((size) =>
    devices.map((device) => prepareReport(device, size)),
  )
  const report = async (request) => {
    const reply = await sendOf(run, request)
    if (!reply) return
    recordReply(request, reply)
    if (reply.json.accepted !== request.times.length)
      run.faults.push(`a report of ${request.device.name} got the reply ${reply.text}`)
  }
  await Promise.all([
    ...reports.map(report),
    ...devices.map((device) => readLast(run, device, reports)),
  ])
  return reports
}

/** The last location must be one of the device's own. */
async function readLast(run, device, reports) {
  const known = new Set(device.times)
  const path = `/api/devices/${device.id}/lastLocation`
  const reply = await sendOf(run, { device, method: 'GET', path })
  const time = reply?.json.lastLocation?.dateTime
  const isOwn = reports.some((one) => one.device === device && one.times.includes(time))
  const isNone = known.size === 0 && reply?.json.code === 'no-location'
  if (reply && !isOwn && !known.has(time) && !isNone)
    run.faults.push(`the last location of ${device.name} got the reply ${reply.text}`)
}

/** Adds what it sends to `sent`. False if the nth joined commit is never reached. */
async function sendUntilKilled(run, point, nth, sent) {
  let killed = null
  run.failPoints.killAt(point, nth, () => {
    killed = run.server.kill()
    return killed
  })
  for (let round = 0; round < MAX_ROUNDS && !killed; round++) sent.push(...(await sendRound(run)))
  await killed
  if (killed) return true
  run.failPoints.disarm()
  run.faults.push(`${MAX_ROUNDS} rounds of reports never reached: ${point}`)
  return false
}

/** The times that are stored of each device. */
async function findStored(reports) {
  const devices = [...new Set(reports.map(({ device }) => device))]
  const tracks = devices.map(async ({ id, account }) => {
    const track = await listAll(account.call, `/api/devices/${id}/locations`, 'locations')
    return [id, new Set(track.map(({ dateTime }) => dateTime))]
  })
  return new Map(await Promise.all(tracks))
}

const countStored = ({ device, times }, found) =>
  times.filter((time) => found.get(device.id)?.has(time)).length

/**
 * Acknowledged reports are whole, others whole or absent. Those of the interrupted commit are of
 * several accounts.
 */
export function compareReports(reports, found, point) {
  const faults = []
  const [whole, absent] = [[], []]
  for (const report of reports) {
    const { device, times, reply } = report
    const stored = countStored(report, found)
    const isWhole = stored === times.length
    if (!reply && isWhole) whole.push(device.account)
    else if (!reply && stored === 0) absent.push(device.account)
    else if (!isWhole)
      faults.push(
        `${device.name}: ${stored} of ${times.length} locations of a report are stored ` +
          `(${reply ? 'acknowledged' : 'unanswered'}) after a kill ${point}`,
      )
  }
  const interrupted = new Set(point === AFTER ? whole : absent)
  if (interrupted.size < 2)
    faults.push(`a kill ${point} interrupted reports of ${interrupted.size} accounts`)
  return { whole: whole.length, absent: absent.length, faults }
}

/** Sends all again, many at the same time: each reply shows what was stored before. */
async function repeat(run, reports, found) {
  const repeatOne = async (report) => {
    const reply = await sendOf(run, report)
    const stored = countStored(report, found)
    const { accepted, duplicates } = reply?.json ?? {}
    if (accepted === report.times.length - stored && duplicates === stored)
      recordReply(report, reply)
    else
      run.faults.push(
        `${report.device.name}: a repeat of ${stored} stored locations got ${reply?.text}`,
      )
  }
  for (let at = 0; at < reports.length; at += MAX_REPEATED)
    await Promise.all(reports.slice(at, at + MAX_REPEATED).map(repeatOne))
}

/** Every report is stored once, and has one event. */
export async function auditJoined({ accounts, reports }) {
  const faults = { lost: [], duplicated: [], other: [] }
  for (const { call, devices } of accounts) {
    const { lost, duplicated } = await auditDevices(call, devices)
    faults.lost.push(...lost)
    faults.duplicated.push(...duplicated)
    faults.other.push(...(await auditEvents(call, devices)).faults)
    const events = await listAll(call, '/api/events?types=location.reported', 'events')
    const byDevice = Map.groupBy(events, ({ data }) => data.deviceId)
    for (const device of devices) {
      const count = byDevice.get(device.id)?.length ?? 0
      const expected = reports.filter((report) => report.device === device).length
      const list = count > expected ? faults.duplicated : faults.lost
      if (count !== expected)
        list.push(`${device.name}: ${count} events of ${expected} joined reports`)
    }
  }
  return faults
}
