import { extraCostOfWork, FIRST_PAGE_MS, REQUEST_MS } from '../domain/account/requestCost.ts'
import { runCostlyWork } from '../http/admission/costlyWork.ts'
import { addExtraCost } from '../http/admission/rateLimit.ts'
import { operation } from '../http/contract/operation.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply } from '../http/reply/reply.ts'
import { inAccount, resourceRoutes } from '../http/resource/routes.ts'
import { requestContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { createRule, deleteRule, updateRule } from './edit.ts'
import { presentRule } from './present.ts'
import { ownRules } from './store.ts'
import { tryRule } from './tryRule.ts'

const { find, list } = inAccount(ownRules)

export const rules = resourceRoutes(contract.rules, {
  prefix: 'rul',
  find,
  list,
  present: presentRule,
  create: createRule,
  update: updateRule,
  remove: deleteRule,
}).post('/:ruleId/test', operation(contract.testRule), async (c) => {
  const rule = await requireInPath(c, 'ruleId', (id) => find(c, id))
  const tested = await runCostlyWork(c, FIRST_PAGE_MS, () =>
    tryRule(requestContext(c), rule, c.req.valid('json')),
  )
  const { alerts, testedUntil, workMs } = tested
  addExtraCost(c, extraCostOfWork(workMs - REQUEST_MS))
  return reply(c, contract.testRule, { success: true, alerts, testedUntil })
})
