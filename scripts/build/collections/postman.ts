import {
  type ApiDocument,
  type CollectionRequest,
  collectionRequests,
  inFolders,
  SETTINGS,
  setTimes,
} from './requests.ts'

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'
const SET = 'pm.collectionVariables.set'

const bearer = (variable: string) => ({
  type: 'bearer',
  bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }],
})

const script = (listen: string, exec: string[]) => ({
  listen,
  script: { type: 'text/javascript', exec },
})

const keep = ([variable, member]: [string, string]): string[] => [
  `const value = pm.response.code < 300 ? pm.response.json()?.${member} : undefined`,
  `if (value !== undefined) ${SET}('${variable}', value)`,
]

const addressOf = ({ path, query }: CollectionRequest) => {
  const sent = query.filter(({ isSent }) => isSent).map(({ name, value }) => `${name}=${value}`)
  return {
    raw: `{{url}}${path}${sent.length > 0 ? `?${sent.join('&')}` : ''}`,
    host: ['{{url}}'],
    path: path.slice(1).split('/'),
    ...(query.length > 0 && {
      query: query.map(({ name, value, isSent }) => ({
        key: name,
        value,
        ...(!isSent && { disabled: true }),
      })),
    }),
  }
}

const item = (request: CollectionRequest) => ({
  name: request.name,
  ...(request.kept && { event: [script('test', keep(request.kept))] }),
  request: {
    method: request.method,
    ...(request.auth === 'none' && { auth: { type: 'noauth' } }),
    ...(request.auth === 'operator' && { auth: bearer('adminToken') }),
    ...(request.body !== undefined && {
      header: [{ key: 'Content-Type', value: 'application/json' }],
      body: { mode: 'raw', raw: JSON.stringify(request.body, null, 2) },
    }),
    url: addressOf(request),
  },
})

/** The collection in Postman's format 2.1. */
export const postmanCollection = (document: ApiDocument): string => {
  const collection = {
    info: {
      name: document.info.title,
      description: `${document.info.summary} Set url, userName and apiKey, then get a token.`,
      schema: SCHEMA,
    },
    auth: bearer('token'),
    event: [script('prerequest', setTimes(SET))],
    variable: Object.entries(SETTINGS).map(([key, value]) => ({ key, value })),
    item: inFolders(collectionRequests(document)).map(([name, requests]) => ({
      name,
      item: requests.map(item),
    })),
  }
  return `${JSON.stringify(collection, null, 1)}\n`
}
