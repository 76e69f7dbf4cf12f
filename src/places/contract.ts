import * as z from 'zod'
import { define } from '../http/contract/contract.ts'
import { success } from '../http/contract/wire.ts'

const degreesInUrl = (max: number) => {
  const error = `must be a number from -${max} to ${max}`
  return z.preprocess(
    (text) => (typeof text === 'string' && text.trim() !== '' ? Number(text) : undefined),
    z.number(error).min(-max, error).max(max, error),
  )
}

export const describePlace = define({
  id: 'describePlace',
  tag: 'Locations',
  summary: 'Describe a place in words',
  description:
    'By the zones of the account and by towns: the smallest zone that the place is in, or else the nearer of a zone within 20 km and a town within 500 km; far from towns, larger ones come first. Users who are confined to a group get towns only. Alerts have the same words as `place`, and so do their messages.',
  scope: 'read',
  query: z.strictObject({
    latitude: degreesInUrl(90).meta({ description: 'Degrees, WGS 84.', example: 41.18 }),
    longitude: degreesInUrl(180).meta({ description: 'Degrees, WGS 84.', example: -8.7 }),
  }),
  reply: z.object({
    success,
    place: z.string().nullable().meta({
      description: 'Null where no zone and no town is near.',
      example: '7.2 km NW of Porto',
    }),
  }),
})
