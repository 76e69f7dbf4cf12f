import * as z from 'zod'
import { AUDIT_DAYS } from '../domain/admin/audit.ts'
import { define } from '../http/contract/contract.ts'
import { id, instantInUrl, line, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'

const anyValue = z.unknown()

export const auditEntry = z
  .object({
    id: id('aud'),
    at: time.meta({ description: 'When it was done.' }),
    actor: z
      .object({
        type: z.enum(['key', 'user', 'operator', 'source', 'system']),
        id: z.string().meta({ example: 'usr_1mpznb1r3jyw7dkhsa0c7x' }),
        name: z.string().nullable().meta({ example: 'Ana Sousa' }),
      })
      .meta({ description: 'Who did it, with the name that it had then.' }),
    action: z.string().meta({
      description: 'What was done: the type of the record, and a verb.',
      example: 'zone.updated',
    }),
    resource: z
      .object({
        type: z.string().meta({ example: 'zone' }),
        id: z.string().meta({ example: 'zon_1mpznb1r3jyw7dkhsa0c7x' }),
      })
      .meta({ description: 'The record that it was done to.' }),
    changes: z
      .array(
        z.object({
          path: z.string().meta({ description: 'The member that changed.', example: 'name' }),
          from: anyValue,
          to: anyValue,
        }),
      )
      .meta({
        description:
          'What changed. Of lists, `from` has what was removed and `to` what was added. Secrets and positions are `(hidden)`.',
        example: [{ path: 'name', from: 'Harbour', to: 'Old harbour' }],
      }),
    requestId: z.string().meta({ description: '`X-Request-Id` of the request, or the job.' }),
    address: z.string().nullable().meta({
      description: 'The address that the request came from; null for a job.',
      example: '203.0.113.7',
    }),
    account: id('acc').nullable().optional().meta({
      description: 'The account that it concerns, for the operator; null for the service itself.',
    }),
    accountName: z.string().nullable().optional().meta({
      description: 'The name that this account has today; null for one that is erased.',
      example: 'Northern Hauliers',
    }),
  })
  .meta({ id: 'AuditEntry' })

const filter = line(100).min(1, 'must not be empty').optional()

const query = {
  ...pageQuery,
  from: instantInUrl.optional().meta({ description: 'Not before this time.' }),
  to: instantInUrl.optional().meta({ description: 'Before this time.' }),
  actor: filter.meta({
    description: 'The id of the actor, or its type.',
    example: 'usr_1mpznb1r3jyw7dkhsa0c7x',
  }),
  action: filter.meta({
    description: 'An action, or the part before the dot.',
    example: 'zone.updated',
  }),
  resource: filter.meta({
    description: 'The id of the resource, or its type.',
    example: 'zon_1mpznb1r3jyw7dkhsa0c7x',
  }),
}

const reply = z.object({ success, entries: z.array(auditEntry), nextCursor })

const KEPT = `Newest first. Entries are kept for ${AUDIT_DAYS} days; nobody can change or delete them. Reports have none.`

export const listAudit = define({
  id: 'listAudit',
  tag: 'Account',
  summary: 'Read who did what',
  description: `Every change by people, keys, sources, the operator and the service itself, sign-ins, refused ones and exports. ${KEPT} Refused sign-ins of an hour are one entry; a key with a wrong checksum is refused before its account is known, and has none.`,
  scope: 'admin',
  wholeAccount: true,
  query: z.strictObject(query),
  reply,
})

export const listAllAudit = define({
  id: 'listAllAudit',
  tag: 'Operator',
  summary: 'Read who did what in all accounts',
  description: `The entries of all accounts and of the service itself. ${KEPT}`,
  scope: 'operator',
  right: 'read',
  query: z.strictObject({
    ...query,
    account: filter.meta({
      description: 'Only entries of this account: its id or its user name.',
      example: 'acc_1mpznb1r3jyw7dkhsa0c7x',
    }),
  }),
  reply,
})
