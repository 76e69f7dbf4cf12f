import { expect } from 'vitest'
import type { TestAccount } from './accounts.ts'

export const CIRCLE = { type: 'Circle', center: [0, 0], radius: 1000 }

export const createZone = async (account: TestAccount, body: object = {}): Promise<string> => {
  const reply = await account.call('POST', '/api/zones', {
    body: { name: 'Harbour', shape: CIRCLE, ...body },
  })
  expect(reply.status).toBe(201)
  return reply.body.zone.id
}

export const createRule = async (account: TestAccount, body: object): Promise<string> => {
  const reply = await account.call('POST', '/api/rules', { body: { name: 'Watch', ...body } })
  expect(reply.text).toContain('"success":true')
  return reply.body.rule.id
}
