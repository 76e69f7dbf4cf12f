// Checks the demo of `npm start`: node test/browser/demo.mjs http://localhost:8787
// Needs DEMO_USER_NAME, DEMO_API_KEY and DEMO_PASSWORD of its .dev.vars in the environment.
import { setTimeout as sleep } from 'node:timers/promises'
import { DemoClient } from '../../scripts/demo/client.mjs'
import { FLEET } from '../../scripts/demo/fleet.mjs'
import { DEMO_EMAIL } from '../../scripts/demo/seed.mjs'
import { base, check, expect, launch, report, Watch } from './support/browser.mjs'
import { visit } from './support/visit.mjs'

const { DEMO_USER_NAME, DEMO_API_KEY, DEMO_PASSWORD } = process.env
const MIN_TRACK_DAYS = 3
const DAY_MS = 86_400_000
/** Each device reports once a minute. */
const MOVE_PATIENCE_MS = 120_000
/** The first crossing is about a minute after the first start. */
const RULE_PATIENCE_MS = 180_000

const client = new DemoClient({ base, userName: DEMO_USER_NAME, apiKey: DEMO_API_KEY })
const devices = await client.list('/api/devices', 'devices')

await check('the demo has its fleet, one device expired and one silent', () => {
  expect(devices.length === FLEET.length, `${devices.length} devices`)
  const expired = devices.filter(({ state }) => state === 'expired')
  expect(expired.length === 1, `${expired.length} devices are expired`)
  expect(expired[0].lastContact > expired[0].expires, 'the expired device was not in contact again')
  const isOld = ({ lastLocation }) => Date.now() - Date.parse(lastLocation.dateTime) > DAY_MS
  expect(devices.filter(isOld).length === 2, 'not one silent device besides the expired one')
})

await check('every device has several days of track', async () => {
  for (const { id, name } of devices) {
    const page = await client.get(`/api/devices/${id}/locations?limit=1`)
    const days = (Date.now() - Date.parse(page.locations[0].dateTime)) / DAY_MS
    expect(days > MIN_TRACK_DAYS, `${name} has ${days.toFixed(1)} days`)
  }
})

await check('there are groups, users, alerts and an emergency', async () => {
  expect((await client.list('/api/groups', 'groups')).length >= 5, 'too few groups')
  expect((await client.list('/api/users', 'users')).length >= 4, 'too few users')
  const alerts = await client.list('/api/alerts', 'alerts')
  expect(alerts.length >= 8, `${alerts.length} alerts`)
  const suppressed = alerts.filter(({ deliveries }) =>
    deliveries.some(({ status }) => status === 'suppressed'),
  )
  expect(suppressed.length > 0, 'no message is suppressed')
  const open = alerts.filter(({ alerts, acknowledged }) => {
    return alerts.includes('SOSButton') && !acknowledged
  })
  expect(open.length === 1, `${open.length} open emergencies`)
})

await check(
  'there is a source with unclaimed identifiers, a failure and a conversation',
  async () => {
    const [source] = await client.list('/api/sources', 'sources')
    const { unclaimed } = await client.get(`/api/sources/${source.id}/unclaimed`)
    expect(unclaimed.length === 2, `${unclaimed.length} unclaimed identifiers`)
    const { failures } = await client.get(`/api/sources/${source.id}/failures`)
    expect(failures.length === 1, `${failures.length} failures`)
    const find = (name) => devices.find((one) => one.name === name).id
    const { commands } = await client.get(`/api/devices/${find('Field team north')}/commands`)
    expect(commands.length === 3, `${commands.length} entries in the conversation`)
    const { quarantine } = await client.get(`/api/devices/${find('Khumbu survey')}/quarantine`)
    expect(quarantine.length === 3, `${quarantine.length} positions in quarantine`)
  },
)

await check('the fleet moves while the server runs', async () => {
  const start = Date.now()
  while (Date.now() - start < MOVE_PATIENCE_MS) {
    const now = await client.list('/api/devices', 'devices')
    if (now.some(({ lastLocation }) => Date.parse(lastLocation.dateTime) > start)) return
    await sleep(1000)
  }
  throw new Error('no device has reported')
})

await check('a rule of the demo raises an alert while the server runs', async () => {
  expect((await client.list('/api/zones', 'zones')).length >= 5, 'too few zones')
  expect((await client.list('/api/rules', 'rules')).length >= 6, 'too few rules')
  const start = Date.now()
  while (Date.now() - start < RULE_PATIENCE_MS) {
    const raised = (await client.list('/api/alerts', 'alerts')).filter(({ ruleId }) => ruleId)
    if (raised.length > 0) return
    await sleep(2000)
  }
  throw new Error('no rule has raised an alert')
})

await check('a check-in of the demo runs, and nobody keeps the other', async () => {
  const watches = await client.list('/api/watches', 'watches')
  const find = (name) => watches.find((one) => one.name === name)
  expect(find('Gerês field work')?.state === 'active', 'no check-in goes on')
  // It is due five minutes after the start, by which the checks may be done already.
  const states = ['active', 'overdue']
  expect(states.includes(find('Icefall crossing')?.state), 'no check-in is missed')
})

await check('the demo’s person signs in and sees the fleet', async () => {
  const browser = await launch()
  try {
    const page = await visit.open(browser, new Watch())
    await visit.signIn(page, {
      account: DEMO_USER_NAME,
      email: DEMO_EMAIL,
      password: DEMO_PASSWORD,
    })
    await page.getByText(`${FLEET.length} devices`).waitFor()
    await page.getByRole('region', { name: 'Emergencies' }).waitFor()
  } finally {
    await browser.close()
  }
})

report()
