import type { BudgetContext } from '../account/present.ts'
import { openCell } from '../db/open.ts'
import type { Account } from '../domain/account/account.ts'
import type { Usage } from '../domain/account/budget.ts'
import type { MessageCounts } from '../domain/message/messageBudget.ts'
import { budgetsPerLicense } from '../env.ts'
import { readCurrentUsage } from '../http/budget/meters.ts'
import type { Context } from '../http/context.ts'
import { operatorContext } from '../serviceContext.ts'
import { listSupport } from '../support/store.ts'
import { presentOperatedAccount } from './present.ts'

/* An account as the operator sees it. */

/** What the views of an account need beside it. */
export const budgetContext = (c: Context, usage: Usage | null): BudgetContext => ({
  usage,
  perLicense: budgetsPerLicense(c.env),
  now: Date.now(),
})

export const readBudgetContext = async (
  c: Context,
  account: Account,
  sent: MessageCounts,
): Promise<BudgetContext> => ({
  ...budgetContext(c, await readCurrentUsage(operatorContext(c, account))),
  support: await listSupport(openCell(c.env, account.cell), account.id, Date.now()),
  sent,
})

export const presentWrapped = (account: Account, context: BudgetContext) => ({
  success: true as const,
  account: presentOperatedAccount(account, context),
})
