import { Hono } from 'hono'
import type { Rule, RuleRecord } from '../domain/rule/rule.ts'
import { applyPatch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { requireOk } from '../http/contract/problem.ts'
import { byId, replyList } from '../http/paging/list.ts'
import { editResource } from '../http/reply/editResource.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import { requestContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { createRule, deleteRule, updateRule } from './edit.ts'
import { presentRule } from './present.ts'
import { findRule, listRules } from './store.ts'
import { tryRule } from './tryRule.ts'

const presentOne = (rule: Rule) => ({ success: true as const, rule: presentRule(rule) })

/** The rule in the path. */
const requireRule = (c: Context): Promise<Rule> =>
  requireInPath(c, 'ruleId', (id) => findRule(c.get('db'), c.get('principal').accountId, id))

const editRule = (c: Context, change: (before: Rule) => RuleRecord) =>
  editResource(c, {
    find: () => requireRule(c),
    change,
    write: (before, record) => {
      const { accountId } = c.get('principal')
      return updateRule(c.get('db'), { accountId, before, record, now: Date.now() })
    },
  })

export const rules = new Hono<AppEnv>()
  .get('/', operation(contract.listRules), (c) =>
    replyList(c, contract.listRules, c.req.valid('query'), {
      read: ([after = ''], limit) =>
        listRules(c.get('db'), c.get('principal').accountId, String(after), limit),
      positionOf: byId,
      toBody: (rows) => ({ rules: rows.map(presentRule) }),
    }),
  )
  .post('/', operation(contract.createRule), async (c) => {
    const id = await c.get('newId')('rul')
    const { accountId } = c.get('principal')
    const record = c.req.valid('json')
    const outcome = await createRule(c.get('db'), { accountId, id, record, now: Date.now() })
    const { rule } = requireOk(outcome)
    return replyWithEtag(c, contract.createRule, presentOne(rule), {
      version: rule.version,
      location: `/api/rules/${id}`,
    })
  })
  .get('/:ruleId', operation(contract.readRule), async (c) => {
    const rule = await requireRule(c)
    return replyWithEtag(c, contract.readRule, presentOne(rule), rule)
  })
  .put('/:ruleId', operation(contract.replaceRule), async (c) => {
    const { rule } = await editRule(c, () => c.req.valid('json'))
    return replyWithEtag(c, contract.replaceRule, presentOne(rule), rule)
  })
  .patch('/:ruleId', operation(contract.patchRule), async (c) => {
    const patch = c.req.valid('json')
    const { rule } = await editRule(c, (before) =>
      applyPatch(patch, presentRule(before), contract.replaceRule),
    )
    return replyWithEtag(c, contract.patchRule, presentOne(rule), rule)
  })
  .delete('/:ruleId', operation(contract.deleteRule), async (c) => {
    const { accountId } = c.get('principal')
    const deletion = { accountId, id: c.req.param('ruleId'), versions: c.get('ifMatch') }
    requireOk(await deleteRule(c.get('db'), deletion))
    return reply(c, contract.deleteRule, { success: true })
  })
  .post('/:ruleId/test', operation(contract.testRule), async (c) => {
    const alerts = await tryRule(requestContext(c), await requireRule(c), c.req.valid('json'))
    return reply(c, contract.testRule, { success: true, alerts })
  })
