import * as z from 'zod'
import { SUPPORT_SCOPES } from '../domain/admin/operator.ts'
import { iso } from '../domain/time/iso.ts'
import { id, time } from '../http/contract/wire.ts'
import type { Support } from './store.ts'

/* Access of the operator's support, as the account and the operator see it. */

export const support = z
  .object({
    id: id('key').meta({
      description: 'The id of its key: `DELETE /api/account/keys/{id}` ends the access.',
    }),
    operator: z.string().meta({ description: 'Who has the access.', example: 'Ana Sousa' }),
    reason: z.string().meta({ description: 'What it is for.', example: 'Ticket 4711' }),
    scopes: z
      .array(z.enum(SUPPORT_SCOPES))
      .meta({ description: 'What it may do, as far as the account allows.', example: ['read'] }),
    creation: time.meta({ description: 'When it began.' }),
    until: time.meta({ description: 'When it ends.' }),
  })
  .meta({ id: 'Support' })

export const presentSupport = (access: Support) => ({
  id: access.id,
  operator: access.name,
  reason: access.supportReason ?? '',
  scopes: SUPPORT_SCOPES.filter((scope) => access.scopes.includes(scope)),
  creation: iso(access.creation),
  until: iso(access.expires ?? 0),
})
