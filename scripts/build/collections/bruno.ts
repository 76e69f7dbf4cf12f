import {
  type ApiDocument,
  type CollectionRequest,
  collectionRequests,
  inFolders,
  SETTINGS,
  setTimes,
} from './requests.ts'

/** A block of Bruno's language. */
const block = (name: string, lines: string[]): string =>
  `${name} {\n${lines.map((line) => `  ${line}`).join('\n')}\n}\n`

const keep = ([variable, member]: [string, string]): string =>
  block('script:post-response', [
    `const value = res.status < 300 ? res.body?.${member} : undefined`,
    `if (value !== undefined) bru.setVar('${variable}', value)`,
  ])

const AUTH = { token: 'inherit', operator: 'bearer', none: 'none' }

const requestFile = (request: CollectionRequest, sequence: number): string => {
  const { query, body } = request
  const sent = query.filter(({ isSent }) => isSent).map(({ name, value }) => `${name}=${value}`)
  const address = `{{url}}${request.path}${sent.length > 0 ? `?${sent.join('&')}` : ''}`
  return [
    block('meta', [`name: ${request.name}`, 'type: http', `seq: ${sequence}`]),
    block(request.method.toLowerCase(), [
      `url: ${address}`,
      `body: ${body === undefined ? 'none' : 'json'}`,
      `auth: ${AUTH[request.auth]}`,
    ]),
    query.length > 0 &&
      block(
        'params:query',
        query.map(({ name, value, isSent }) => `${isSent ? '' : '~'}${name}: ${value}`),
      ),
    request.auth === 'operator' && block('auth:bearer', ['token: {{adminToken}}']),
    body !== undefined && block('body:json', JSON.stringify(body, null, 2).split('\n')),
    request.kept && keep(request.kept),
  ]
    .filter((part) => typeof part === 'string')
    .join('\n')
}

/** As a name of a file or folder on every system. */
const fileName = (name: string): string => name.replaceAll(/[^\w ,()-]/g, '').trim()

/** The files of the collection by path. */
export const brunoFiles = (document: ApiDocument): Record<string, string> => {
  const name = document.info.title
  const files: Record<string, string> = {
    'bruno.json': `${JSON.stringify({ version: '1', name, type: 'collection' }, null, 2)}\n`,
    'collection.bru': [
      block('auth', ['mode: bearer']),
      block('auth:bearer', ['token: {{token}}']),
      block('script:pre-request', setTimes('bru.setVar')),
    ].join('\n'),
    'environments/Local.bru': block(
      'vars',
      Object.entries(SETTINGS).map(([key, value]) => `${key}: ${value}`),
    ),
  }
  for (const [index, [folder, requests]] of inFolders(collectionRequests(document)).entries()) {
    const path = fileName(folder)
    files[`${path}/folder.bru`] = block('meta', [`name: ${folder}`, `seq: ${index + 1}`])
    for (const [at, request] of requests.entries())
      files[`${path}/${fileName(request.name)}.bru`] = requestFile(request, at + 1)
  }
  return files
}
