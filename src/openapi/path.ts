import * as z from 'zod'

const ID = /^([a-z][A-Za-z]*)Id$/
const EXAMPLES: Readonly<Record<string, string>> = {
  accountId: 'acc_1jn7wz3h4q8v2n5t7r6m0p',
  alertId: 'alr_1jn7wz3h4q8v2n5t7r6m0p',
  deliveryId: 'dlv_1jn7wz3h4q8v2n5t7r6m0p',
  deviceId: 'dev_1jn7wz3h4q8v2n5t7r6m0p',
  groupId: 'grp_1jn7wz3h4q8v2n5t7r6m0p',
  keyId: 'key_1jn7wz3h4q8v2n5t7r6m0p',
  messageId: 'msg_1jn7wz3h4q8v2n5t7r6m0p0000',
  sessionId: 'ses_1jn7wz3h4q8v2n5t7r6m0p',
  commandId: 'cmd_1jn7wz3h4q8v2n5t7r6m0p',
  identifier: '300434060000000',
  payloadId: 'pay_1jn7wz3h4q8v2n5t7r6m0p',
  sourceId: 'src_1jn7wz3h4q8v2n5t7r6m0p',
  subscriptionId: 'psh_1jn7wz3h4q8v2n5t7r6m0p',
  operatorId: 'opr_1jn7wz3h4q8v2n5t7r6m0p',
  ruleId: 'rul_1jn7wz3h4q8v2n5t7r6m0p',
  userId: 'usr_1jn7wz3h4q8v2n5t7r6m0p',
  watchId: 'wat_1jn7wz3h4q8v2n5t7r6m0p',
  webhookId: 'whk_1jn7wz3h4q8v2n5t7r6m0p',
  zoneId: 'zon_1jn7wz3h4q8v2n5t7r6m0p',
}

const toWords = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const describe = (name: string): string => {
  const owner = ID.exec(name)?.[1]
  return owner ? `The id of the ${toWords(owner)}.` : `The ${toWords(name)}.`
}

const parameters = new Map<string, z.ZodType>()

const makeParameter = (name: string): z.ZodType => {
  const example = EXAMPLES[name]
  const schema = z.string().meta({
    description: describe(name),
    ...(example && { example }),
    param: { in: 'path', name, id: name },
  })
  parameters.set(name, schema)
  return schema
}

/** A router path as an OpenAPI path template. */
export const templateOf = (path: string): string => path.replaceAll(/:([A-Za-z]+)/g, '{$1}')

/** The parameters of a router path; the same name always gives the same component. */
export const pathParameters = (path: string): z.ZodType[] =>
  [...path.matchAll(/:([A-Za-z]+)/g)].map(
    ([, name = '']) => parameters.get(name) ?? makeParameter(name),
  )
