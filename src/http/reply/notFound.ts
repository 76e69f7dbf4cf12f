import type { Context } from '../context.ts'
import { Problem, type ProblemCode } from '../contract/problem.ts'

const CODES: Readonly<Record<string, ProblemCode>> = {
  ':accountId': 'account-not-found',
  ':alertId': 'alert-not-found',
  ':cell': 'cell-not-found',
  ':deliveryId': 'delivery-not-found',
  ':deviceId': 'device-not-found',
  ':groupId': 'group-not-found',
  ':keyId': 'key-not-found',
  ':messageId': 'message-not-found',
  ':sessionId': 'session-not-found',
  ':commandId': 'command-not-found',
  ':identifier': 'identifier-not-found',
  ':payloadId': 'payload-not-found',
  ':sourceId': 'source-not-found',
  ':ruleId': 'rule-not-found',
  ':userId': 'user-not-found',
  ':webhookId': 'webhook-not-found',
  ':zoneId': 'zone-not-found',
}

/** The 404 for a value of a path parameter that names nothing. */
export const parameterNotFound = (parameter: string): Problem =>
  new Problem(CODES[parameter] ?? 'route-not-found')

/** What a path parameter names, or its 404. */
export const requireInPath = async <Resource>(
  c: Context,
  parameter: string,
  find: (id: string) => Promise<Resource | null | undefined>,
): Promise<Resource> => {
  const found = await find(c.req.param(parameter) ?? '')
  if (!found) throw parameterNotFound(`:${parameter}`)
  return found
}
