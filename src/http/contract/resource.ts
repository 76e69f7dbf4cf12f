import type * as z from 'zod'
import type { Operation } from './contract.ts'
import type { ProblemCode } from './problem.ts'
import { done } from './wire.ts'

type Access = Pick<Operation, 'tag' | 'scope' | 'wholeAccount'>

/** What the contracts of a resource share: those that read, create, edit and delete one. */
export const resourceForms = <
  Reply extends z.ZodType,
  const NotFound extends ProblemCode,
  const Reading extends Access,
  const Writing extends Access,
>(
  reply: Reply,
  notFound: NotFound,
  { reading, writing }: { reading: Reading; writing: Writing },
) =>
  ({
    read: { ...reading, reply, problems: [notFound], etag: true },
    create: { ...writing, status: 201, reply, etag: true, idempotent: true },
    edit: { ...writing, reply, problems: [notFound, 'conflict'], etag: true, ifMatch: true },
    remove: { ...writing, reply: done, problems: [notFound], ifMatch: true },
  }) as const
