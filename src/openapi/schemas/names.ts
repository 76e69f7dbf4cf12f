import * as z from 'zod'
import { isPaged, type Operation } from '../../http/contract/contract.ts'
import { unwrapped } from '../../http/contract/validation.ts'

/* The names of components, so that generated clients have one type for one thing. */

export const pascal = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

const idOf = (schema: z.ZodType | undefined): string | undefined => {
  if (!schema) return undefined
  const inner = unwrapped(schema)
  const { element } = inner._zod.def as { element?: z.ZodType }
  return element ? idOf(element) : inner.meta()?.id
}

/** `DeviceReply` has a device and nothing else, `DevicePage` a list of them and a cursor. */
const nameByContent = (reply: z.ZodType, contract: Operation): string | undefined => {
  const { success: _, nextCursor: __, ...members } = (reply as Partial<z.ZodObject>).shape ?? {}
  const [only, ...others] = Object.values(members) as z.ZodType[]
  const id = others.length === 0 ? idOf(only) : undefined
  return id && `${id}${isPaged({ ...contract, reply }) ? 'Page' : 'Reply'}`
}

const named = new WeakMap<z.ZodType, z.ZodType>()

/** The reply of an operation as a component; the same schema is always the same component. */
export const namedReply = (contract: Operation, reply: z.ZodType): z.ZodType => {
  if (reply.meta()?.id) return reply
  const id = nameByContent(reply, contract) ?? `${pascal(contract.id)}Reply`
  const made = named.get(reply) ?? z.clone(reply, reply._zod.def).meta({ ...reply.meta(), id })
  named.set(reply, made)
  return made
}
