import { define } from '../http/contract/contract.ts'
import { done } from '../http/contract/wire.ts'

/** Not in the OpenAPI document: each provider has its own body and signature. */
export const receiveReceipt = define({
  id: 'receiveReceipt',
  tag: 'Receipts',
  summary: 'Receive a provider’s report on a message',
  scope: 'open',
  reply: done,
})
