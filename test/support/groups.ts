import type { Caller } from './accounts.ts'

/** Creates a group and returns it as the API shows it. */
export const createGroup = async (account: Caller, members: object) => {
  const reply = await account.call('POST', '/api/groups', { body: members })
  if (reply.status !== 201) throw new Error(`no group: ${reply.text}`)
  return reply.body
}
