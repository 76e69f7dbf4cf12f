import { expect, test } from 'vitest'
import { verifyWebhook, WebhookError } from '../../../clients/typescript/src/webhook.ts'

const SECRET = `whsec_${btoa('the secret of the test')}`
const body = '{"events":[]}'

const callWith = (signature: string) => ({
  secret: SECRET,
  headers: {
    'Webhook-Id': 'msg_1',
    'Webhook-Timestamp': String(Math.round(Date.now() / 1000)),
    'Webhook-Signature': signature,
  },
  body,
})

test.each(['v1,_', 'v1,A', 'v1,é', 'v1,', 'v1', '', 'v2,AAAA'])(
  'the signature “%s” is refused with a WebhookError',
  async (signature) => {
    await expect(verifyWebhook(callWith(signature))).rejects.toBeInstanceOf(WebhookError)
  },
)
