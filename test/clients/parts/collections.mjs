// Sends every request of the collections by Newman and by Bruno's command line, except those for
// operators. No reply may be a 5xx, and only the requests that are named here may be refused.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cpSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const TOOLS = ['newman@6.2.2', '@usebruno/cli@4.1.0']

/** Requests that need what a new account does not have. */
const REFUSED = [
  // A person's password, session or browser, or a link of an e-mail.
  'Sign in with a password',
  'Get a new token for the session',
  'Sign out',
  'Set a password with a link',
  'Read what a program asks for',
  'Let a program act for the user, or refuse',
  'List the browsers that get notifications',
  'Turn notifications on in a browser',
  'Turn notifications off in a browser',
  'End a session',
  // A push of an unknown device, or one that cannot be read.
  'Claim an identifier',
  'Discard an unclaimed identifier',
  'Read a failed payload',
  // A watch and an alert that have not ended, a message that has failed, a sandbox.
  'Cancel a watch',
  'Cancel an alert',
  'Send a message again',
  'Keep this sandbox for longer',
]

/** Runs a tool, whose exit code does not count: it may be that of a refused request. */
const send = (must, command, args, options) =>
  must(command, args, options).catch((problem) => {
    if (!/ended with [1-9]/.test(problem.message)) throw problem
  })

function check(tool, replies, expected) {
  const broken = replies.filter(({ status }) => !(status >= 200 && status < 500))
  assert.deepEqual(broken, [], `${tool}: requests without a reply, or with a 5xx`)
  const refused = replies.filter(({ status }) => status >= 400)
  const unexpected = refused.filter(({ name }) => !REFUSED.includes(name))
  assert.deepEqual(unexpected, [], `${tool}: refused requests`)
  assert.deepEqual(replies.map(({ name }) => name).sort(), expected, `${tool}: requests sent`)
  console.log(`${tool}: ${replies.length} requests, ${refused.length} refused as expected`)
}

async function byNewman({ must, folder, bin, file, settings, folders }) {
  const report = join(folder, 'newman.json')
  const args = ['run', file, '--reporters', 'json', '--reporter-json-export', report]
  for (const name of folders) args.push('--folder', name)
  for (const [name, value] of Object.entries(settings)) args.push('--env-var', `${name}=${value}`)
  await send(must, join(bin, 'newman'), args, { cwd: folder })
  const { run } = JSON.parse(readFileSync(report, 'utf8'))
  assert.deepEqual(run.failures, [], 'Newman: failures of scripts')
  return run.executions.map(({ item, response }) => ({ name: item.name, status: response?.code }))
}

async function byBruno({ must, folder, bin, root, settings, folders }) {
  const collection = join(folder, 'bruno')
  cpSync(join(root, 'collections/bruno'), collection, { recursive: true })
  const report = join(folder, 'bruno.json')
  const args = ['run', ...folders, '-r', '--env', 'Local', '--reporter-json', report]
  for (const [name, value] of Object.entries(settings)) args.push('--env-var', `${name}=${value}`)
  await send(must, join(bin, 'bru'), args, { cwd: collection })
  const [{ results }] = JSON.parse(readFileSync(report, 'utf8'))
  return results.map(({ name, test, response }) => ({
    name: name ?? test?.filename,
    status: response?.status,
  }))
}

async function readText(url, root) {
  const reply = await fetch(`${url}/llms.txt`)
  assert.equal(reply.status, 200)
  assert.match(reply.headers.get('Content-Type'), /^text\/plain/)
  assert.equal(await reply.text(), readFileSync(join(root, 'public/llms.txt'), 'utf8'))
}

export async function run({ url, root, folder, must, openAccount }) {
  await readText(url, root)
  await must('npm', ['install', '--silent', '--no-save', '--prefix', folder, ...TOOLS])
  const file = join(root, 'collections/postman/perigee.json')
  const parts = JSON.parse(readFileSync(file, 'utf8')).item.filter(
    ({ name }) => name !== 'Operator',
  )
  const folders = parts.map(({ name }) => name)
  const expected = parts.flatMap(({ item }) => item.map(({ name }) => name)).sort()
  const receiver = createServer((_, reply) => reply.end()).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const webhookUrl = `http://127.0.0.1:${receiver.address().port}/`
  const bin = join(folder, 'node_modules/.bin')
  try {
    for (const [tool, sendAll] of Object.entries({ Newman: byNewman, Bruno: byBruno })) {
      const { userName, apiKey } = await openAccount({ userName: `by-${tool.toLowerCase()}` })
      const settings = { url, userName, apiKey, webhookUrl }
      check(tool, await sendAll({ must, folder, bin, file, root, settings, folders }), expected)
    }
  } finally {
    receiver.close()
  }
}
