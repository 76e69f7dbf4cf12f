import type { SourceProvider } from '../domain/account/source.ts'
import { smsSegments } from '../domain/message/gsm7.ts'
import { countOf } from '../domain/text/countOf.ts'
import { invalid, Problem, requireOk, tooManyRequests } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { isSandbox } from '../sandbox/store.ts'
import type { ServiceContext } from '../serviceContext.ts'
import { findSource } from '../sources/store.ts'
import {
  type Channel,
  type CommandResult,
  type Credentials,
  NOT_IN_FORMAT,
  type ProviderRequest,
} from './channel.ts'
import { garminChannel } from './garmin.ts'
import { isSmsTooLong, SMS_LIMIT } from './limits.ts'
import { rockblockChannel } from './rockblock.ts'
import { findSourceOf, insertCommand, type NewCommand, setStatus } from './store.ts'

/* Sends a command once. Whatever may have been accepted is never sent again. */

const CHANNELS: Readonly<Partial<Record<SourceProvider, Channel>>> = {
  garmin: garminChannel,
  rockblock: rockblockChannel,
}

const TIMEOUT_MS = 15_000

interface Route {
  channel: Channel
  credentials: Credentials
}

/** The channel of the source that the device last reported by. */
const findRoute = async (
  { env, db, accountId }: ServiceContext,
  deviceKey: number,
): Promise<Route> => {
  const sourceId = await findSourceOf(db, deviceKey)
  const source = sourceId ? await findSource(db, accountId, sourceId) : null
  const channel = source?.enabled ? CHANNELS[source.provider] : undefined
  if (!source || !channel) throw new Problem('no-command-channel')
  const secrets = await ledgerOf(env, accountId).editSourceSecrets(source.id, null)
  const credentials: Credentials = { ...source.settings, ...secrets }
  if (!channel.hasCredentials(credentials)) throw new Problem('no-command-channel')
  return { channel, credentials }
}

const MAX_REPLY_BYTES = 16_384

/** Reads no more than a few kilobytes, whatever a network sends. */
const readStart = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_REPLY_BYTES) break
  }
  return text
}

const call = async (channel: Channel, request: ProviderRequest): Promise<CommandResult> => {
  const { url, method, headers, body } = request
  try {
    const response = await fetch(url, {
      method,
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return channel.read(response.status, await readStart(response))
  } catch {
    // The connection may have ended after the network had accepted the command.
    return { status: 'unknown', answer: 'The network did not answer.' }
  }
}

/** A sandbox sends nothing to a network. */
const SENT_NOWHERE: CommandResult = { status: 'sent', answer: 'Sandbox: nothing was sent.' }

export interface CommandForDevice {
  device: { key: number; id: string; identifier: string | null }
  format: NewCommand['format']
  command: string
}

/** Waits for a network without a slot of the request. */
type WaitForReceiver = <T>(wait: () => Promise<T>) => Promise<T>

const toNewCommand = (
  { accountId, now }: ServiceContext,
  id: string,
  { device, format, command }: CommandForDevice,
  sms: boolean,
): NewCommand => ({
  id,
  accountId,
  deviceKey: device.key,
  format,
  command,
  sms,
  status: sms ? 'queued' : 'unknown',
  answer: null,
  creation: now(),
})

/**
 * Sends by the device's network and returns what it takes. The command is stored as `unknown` before
 * it is sent: a crash in between leaves it so, and a repeat of the request does not send it.
 */
export const sendByNetwork = async (
  context: ServiceContext,
  id: string,
  given: CommandForDevice,
  waitForReceiver: WaitForReceiver,
): Promise<string> => {
  const { identifier } = given.device
  if (identifier === null) throw new Problem('no-command-channel')
  const { channel, credentials } = await findRoute(context, given.device.key)
  const prepared = channel.compose({ ...given, identifier, now: context.now() }, credentials)
  if ('refused' in prepared) {
    const { refused: detail } = prepared
    if (detail === NOT_IN_FORMAT)
      throw invalid({ pointer: '/command', detail: 'must be bytes in the format named' })
    throw new Problem('command-not-possible', { detail })
  }
  const stored = toNewCommand(context, id, given, false)
  const isNew = await insertCommand(context.db, stored, given.device.id)
  if (isNew) {
    const { status, answer } = (await isSandbox(context.db, context.accountId))
      ? SENT_NOWHERE
      : await waitForReceiver(() => call(channel, prepared.request))
    await setStatus(context.db, id, status, answer)
  }
  return prepared.result
}

/** Queues an SMS to the device's own number; the ledger decides whether the day's limit allows it. */
export const sendBySms = async (
  context: ServiceContext,
  id: string,
  given: CommandForDevice,
): Promise<string> => {
  const { command: text, device } = given
  const segments = smsSegments(text)
  const result = `${countOf(segments, 'SMS segment')}.`
  if (isSmsTooLong(text))
    throw new Problem('command-not-possible', { detail: `It takes ${result} ${SMS_LIMIT}` })
  const ledger = ledgerOf(context.env, context.accountId)
  const outcome = await ledger.sendCommandSms({ id, deviceId: device.id, text })
  if (!outcome.ok && outcome.refusal === 'too-many-requests')
    throw tooManyRequests(
      'SMS commands of this device or account have gone to as many different numbers today as allowed: 5 for a device, and 5 for each license.',
      outcome.retryAt,
    )
  requireOk(outcome)
  await insertCommand(context.db, toNewCommand(context, id, given, true), device.id)
  return result
}
