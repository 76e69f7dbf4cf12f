import { escapePointer, isObject, type JsonObject } from '../../domain/text/json.ts'
import type { Operation } from '../contract/contract.ts'
import { dropNulls } from '../contract/nulls.ts'
import { invalid } from '../contract/problem.ts'
import { fieldErrors, MAX_ERRORS } from '../contract/validation.ts'

/** Members of replies that clients of this kind of API send back: ignored in POST and PUT. */
const REPLY_MEMBERS = ['success', 'error', 'apiUsage', 'apiDailyUsage']

/**
 * The body of a POST or PUT: unwraps it, drops members that the server writes and optional ones that
 * are null, and checks the rest by the contract.
 */
export const parseBody = (contract: Operation, value: unknown): unknown => {
  const { wrapper = '' } = contract
  const prefix = prefixOf(contract, value)
  if (!prefix || !isObject(value)) return parseBare(contract, withoutDefaults(contract, value), '')
  rejectSiblings(value, wrapper, REPLY_MEMBERS)
  return parseBare(contract, withoutDefaults(contract, value[wrapper]), prefix)
}

/** Where the resource is in the body of a POST or PUT. */
export const prefixOf = ({ wrapper }: Operation, value: unknown): string =>
  wrapper && isObject(value) && Object.hasOwn(value, wrapper) ? `/${wrapper}` : ''

const withoutDefaults = ({ body, read }: Operation, value: unknown): unknown => {
  const inner = isObject(value) ? omit(value, REPLY_MEMBERS) : value
  return body && !read ? dropNulls(body, inner) : inner
}

/** Beside the wrapper a body may have the members of `accepted` and nothing else. */
export const rejectSiblings = (
  value: JsonObject,
  wrapper: string,
  accepted: readonly string[],
): void => {
  const siblings = Object.keys(value).filter((name) => name !== wrapper && !accepted.includes(name))
  if (siblings.length > 0)
    throw invalid(
      ...siblings.slice(0, MAX_ERRORS).map((name) => ({
        pointer: `/${escapePointer(name)}`,
        detail: `must be inside \`${wrapper}\` or left out`,
      })),
    )
}

/** Parses a body that is not wrapped. `prefix` points to where the value is in the request body. */
export const parseBare = (contract: Operation, value: unknown, prefix: string): unknown => {
  const inner = isObject(value) ? omit(value, [...(contract.ignored ?? []), 'success']) : value
  const parsed = contract.read ? contract.read(inner) : contract.body?.safeParse(inner)
  if (!parsed?.success) throw invalid(...(parsed ? fieldErrors(parsed.error, inner, prefix) : []))
  return parsed.data
}

const omit = (value: JsonObject, names: readonly string[]): JsonObject =>
  names.some((name) => Object.hasOwn(value, name))
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
    : value
