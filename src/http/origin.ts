import { publicOrigin } from '../env.ts'
import type { Context } from './context.ts'

/** The address that the service is known by. */
export const originOf = (c: Context): string => publicOrigin(c.env) ?? new URL(c.req.url).origin
