import { expect, test } from 'vitest'
import guide from '../../../docs/sources.md?raw'
import { SOURCE_PROVIDERS } from '../../../src/domain/account/source.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { call, type Reply } from '../../support/http.ts'
import { makeSource, type TestSource } from '../../support/sources.ts'

/* Sends the curl lines of docs/sources.md, so that what the page says keeps working. */

/** The words of a shell line: quotes are taken off, and variables filled in outside of `'…'`. */
const wordsOf = (line: string, variables: Record<string, string>): string[] => {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  const expand = (text: string) =>
    text.replaceAll(/\$([A-Z]+)/g, (_, name) => variables[name] ?? '')
  let plain = ''
  const flush = () => {
    if (plain !== '') word = (word ?? '') + expand(plain)
    plain = ''
  }
  for (const character of line) {
    if (quote === "'" && character !== "'") word = (word ?? '') + character
    else if (quote === '' && /\s/.test(character)) {
      flush()
      if (word !== null) words.push(word)
      word = null
    } else if (character === quote || (quote === '' && /['"]/.test(character))) {
      flush()
      word ??= ''
      quote = quote === '' ? character : ''
    } else plain += character
  }
  flush()
  return word === null ? words : [...words, word]
}

/** Sends what a curl line would. */
const runCurl = (line: string, variables: Record<string, string>): Promise<Reply> => {
  const [, ...words] = wordsOf(line, variables)
  const headers: Record<string, string> = {}
  let [url, body]: [string, string | undefined] = ['', undefined]
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '-s') continue
    if (word === '-H') {
      const [name = '', ...value] = (words[++at] ?? '').split(': ')
      headers[name] = value.join(': ')
    } else if (word === '-d') body = words[++at]
    else if (word.startsWith('-')) throw new Error(`curl option ${word} is not known here`)
    else url = word
  }
  const isForm = body !== undefined && headers['Content-Type'] === undefined
  if (isForm) headers['Content-Type'] = 'application/x-www-form-urlencoded'
  const { pathname, search } = new URL(url)
  return call(body === undefined ? 'GET' : 'POST', `${pathname}${search}`, {
    headers,
    ...(body !== undefined && { body }),
  })
}

/** The curl lines of a part of the page. */
const curlsOf = (text: string): string[] =>
  [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
    [
      ...block.replaceAll(/\\\n\s*/g, '').matchAll(/^(?:\w+=\$\()?(curl .*?)(?: \| sed .*)?$/gm),
    ].map(([, line = '']) => line),
  )

const [general = '', ...sections] = guide.split(/^### /m)
const providerOf = (section: string) => /\(`(\w+)`\)/.exec(section)?.[1] ?? ''

const unclaimedOf = async (account: TestAccount, { id }: TestSource) =>
  (await account.call('GET', `/api/sources/${id}/unclaimed`)).body.unclaimed

test('every provider has a section with a curl line', () => {
  expect(sections.map(providerOf).sort()).toEqual([...SOURCE_PROVIDERS].sort())
  for (const section of sections) expect(curlsOf(section)).toHaveLength(1)
})

test.each(sections.map((section) => [providerOf(section), section]))(
  'the line of %s is understood, completely',
  async (provider, section) => {
    const account = await openAccount()
    const source = await makeSource(account, provider)
    const address = `https://perigee.test${new URL(source.url).pathname}`
    for (const line of curlsOf(section))
      expect((await runCurl(line, { URL: address })).status).toBe(200)
    const { failures } = (await account.call('GET', `/api/sources/${source.id}/failures`)).body
    expect(failures).toEqual([])
    expect(await unclaimedOf(account, source)).toMatchObject([{ lastLocation: expect.anything() }])
  },
)

test('the lines before them work in their order', async () => {
  const account = await openAccount()
  const lines = curlsOf(general)
  expect(lines).toHaveLength(5)
  const variables = { HOST: 'https://perigee.test', TOKEN: '' }
  const run = (at: number, replaced: Record<string, string> = {}) => {
    const line = Object.entries(replaced).reduce(
      (text, [from, to]) => text.replace(from, to),
      lines[at] ?? '',
    )
    return runCurl(line, variables)
  }
  const token = await run(0, { '"demo"': `"${account.userName}"`, 'pgk_…': account.apiKey })
  variables.TOKEN = token.body.token
  const created = await run(1)
  expect(created.body).toMatchObject({ success: true, source: { provider: 'osmand' } })
  const decoded = await run(2)
  expect(decoded.body).toMatchObject({ failures: [], items: [{ kind: 'location' }] })
  const garmin = await makeSource(account, 'garmin', {
    settings: { apiKey: 'ok', sender: 'ops@example.com' },
  })
  const event = { imei: '300434060000000', messageCode: 0, timeStamp: Date.now() }
  await garmin.push({
    body: JSON.stringify({ Version: '2.0', Events: [event] }),
    contentType: 'application/json',
  })
  const claimed = await run(3, { 'src_…': garmin.id })
  expect(claimed.body).toMatchObject({ success: true, imported: 1, pending: 0 })
  const sent = await run(4, { 'dev_…': claimed.body.device.id })
  expect(sent.body).toMatchObject({ success: true, command: { status: 'sent' } })
})
