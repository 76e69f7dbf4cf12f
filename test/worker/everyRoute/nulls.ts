import { beforeAll, describe, expect, test } from 'vitest'
import type * as z from 'zod'
import type { Fixture } from './fixture.ts'
import type { Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import { send } from './send.ts'

type Members = Record<string, z.ZodType>

/** The members of an object schema; none for another one. */
const membersOf = (schema: z.ZodType | undefined): Members => {
  const { shape, innerType } = (schema?._zod.def ?? {}) as {
    shape?: Members
    innerType?: z.ZodType
  }
  return shape ?? (innerType ? membersOf(innerType) : {})
}

const isOptional = (member: z.ZodType): boolean => member.safeParse(undefined).success

/** Null for every member that may be left out. */
const optionalNulls = (schema: z.ZodType | undefined): object =>
  Object.fromEntries(
    Object.entries(membersOf(schema)).flatMap(([name, member]) =>
      isOptional(member) ? [[name, null]] : [],
    ),
  )

/** The same, with objects that have null members in place of null. */
const nestedNulls = (schema: z.ZodType | undefined): object =>
  Object.fromEntries(
    Object.entries(membersOf(schema)).flatMap(([name, member]) =>
      Object.keys(membersOf(member)).length > 0 ? [[name, optionalNulls(member)]] : [],
    ),
  )

/** Tests that null means left out in POST and PUT, and that what is missing is called so. */
export const checkNulls = (route: Route, fixtureOf: () => Fixture): void => {
  const { contract, method } = route
  const { body, patches } = contract
  if (!body && !patches) return

  describe('of the members of a body', () => {
    let fixture: Fixture
    beforeAll(() => {
      fixture = fixtureOf()
    })
    const sendChanged = async (change: (sample: object) => object) => {
      const { body: text = '{}', ...sent } = await fixture.request()
      const headers = { ...sent.headers, 'Content-Type': 'application/json' }
      const changed = JSON.stringify(change(JSON.parse(String(text))))
      return send({ ...sent, headers, body: changed })
    }
    const expectAccepted = async (change: (sample: object) => object) => {
      const reply = await sendChanged(change)
      const refused = SAMPLES[route.id]?.refused
      if (refused) expect(reply.body.code).toBe(refused)
      else expect(reply.status, reply.text).toBeLessThan(300)
    }

    if (patches) {
      test('a patch changes none that only replies have', async () => {
        for (const name of ['success', 'error', 'apiUsage', 'apiDailyUsage']) {
          const reply = await sendChanged((sample) => ({ ...sample, [name]: 'changed' }))
          expect([reply.status, reply.body.errors[0].pointer]).toEqual([400, `/${name}`])
        }
      })
      return
    }

    test('an optional one may be null, alone and inside of another', async () => {
      expect(['POST', 'PUT', 'DELETE']).toContain(method)
      await expectAccepted((sample) => ({ ...optionalNulls(body), ...sample }))
      await expectAccepted((sample) => ({ ...nestedNulls(body), ...sample }))
    })

    test('those that only replies have are ignored', async () => {
      const ofReplies = { success: true, error: null, apiUsage: { calls: 1 }, apiDailyUsage: 7 }
      await expectAccepted((sample) => ({ ...ofReplies, ...sample }))
      const { wrapper } = contract
      if (wrapper) await expectAccepted((sample) => ({ ...ofReplies, [wrapper]: sample }))
    })

    test('a required one that is missing or null is pointed to', async () => {
      for (const [name, member] of Object.entries(membersOf(body))) {
        if (isOptional(member)) continue
        const missing = await sendChanged((sample) => ({ ...sample, [name]: undefined }))
        expect(missing.status).toBe(400)
        expect(missing.body.errors).toContainEqual({ pointer: `/${name}`, detail: 'is required' })
        const empty = await sendChanged((sample) => ({ ...sample, [name]: null }))
        expect(empty.status).toBe(400)
        expect(empty.body.errors[0]).toMatchObject({ pointer: `/${name}` })
        expect(empty.body.errors[0].detail).not.toBe('is required')
      }
    })
  })
}
