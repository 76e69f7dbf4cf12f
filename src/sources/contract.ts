import * as z from 'zod'
import { define } from '../http/contract.ts'
import { success } from '../http/wire.ts'
import { pastedPush, providerReply, sourceItem } from './forms.ts'

const tag = 'Sources'

export const decodePayload = define({
  id: 'decodePayload',
  tag,
  summary: 'Show what a payload would become',
  description:
    'Decodes a pasted payload as if its provider had pushed it. Nothing is stored. What cannot be understood is in `failures`, with the reason.',
  scope: 'read',
  body: pastedPush,
  reply: z.object({
    success,
    items: z.array(sourceItem).meta({ description: 'What the payload becomes, in its order.' }),
    failures: z
      .array(z.string())
      .meta({ description: 'What of the payload could not be understood, in words.', example: [] }),
    reply: providerReply,
  }),
  example: {
    provider: 'osmand',
    query: 'id=123456&timestamp=1377177267&lat=60.0&lon=30.0&speed=0.0&bearing=0.0&batt=87',
  },
})
