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
  userId: 'usr_1jn7wz3h4q8v2n5t7r6m0p',
  webhookId: 'whk_1jn7wz3h4q8v2n5t7r6m0p',
}

const words = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const describe = (name: string): string => {
  const owner = ID.exec(name)?.[1]
  return owner ? `The id of the ${words(owner)}.` : `The ${words(name)}.`
}

const parameters = new Map<string, z.ZodType>()

const parameter = (name: string): z.ZodType => {
  const example = EXAMPLES[name]
  const made = z.string().meta({
    description: describe(name),
    ...(example && { example }),
    param: { in: 'path', name, id: name },
  })
  parameters.set(name, made)
  return made
}

/** A path of the router as OpenAPI writes it. */
export const templateOf = (path: string): string => path.replaceAll(/:([A-Za-z]+)/g, '{$1}')

/** The parameters in a path of the router: the same one wherever the name is the same. */
export const pathParameters = (path: string): z.ZodType[] =>
  [...path.matchAll(/:([A-Za-z]+)/g)].map(
    ([, name = '']) => parameters.get(name) ?? parameter(name),
  )
