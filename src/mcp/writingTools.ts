import * as z from 'zod'
import type { sendCommand } from '../commands/contract.ts'
import type { watch as watchSchema } from '../watches/contract.ts'
import { type Device, deviceArgument, findDevice, labelOf } from './devices.ts'
import { type Alert, toAlertRow } from './readingTools.ts'
import { defineTool, ToolError } from './tool.ts'

const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/)
  .optional()
  .describe('Any text of your own. A repeat with the same text within a day does nothing twice.')
const date = z.string().max(10)

/** Clients ask the person before such a tool runs. */
const CHANGES = { isDestructive: true, isIdempotent: true }

/* Tools that change or send something. Each says what it will do, and its result what it did. */
export const writingTools = [
  defineTool({
    name: 'acknowledge_alert',
    title: 'Acknowledge an alert',
    description:
      'CHANGES: marks an alert as being handled, in the name of the caller. Stops the escalation of an emergency. Only when a person has said that somebody handles it.',
    scope: 'write',
    effect: CHANGES,
    input: z.strictObject({
      alertId: z
        .string()
        .regex(/^alr_[0-9a-z]+$/)
        .describe('The id of the alert (alr_…).'),
    }),
    run: async (api, { alertId }) => {
      const { alert } = await api<{ alert: Alert }>('POST', `/api/alerts/${alertId}/acknowledge`)
      const row = toAlertRow(alert)
      return { summary: `Acknowledged the alert ${row.name} (${alertId}).`, data: row }
    },
  }),
  defineTool({
    name: 'reactivate_device',
    title: 'Reactivate a device',
    description:
      'CHANGES: makes a device active until a date, or without an end. Takes a license if it was expired, which costs money.',
    scope: 'write',
    effect: CHANGES,
    input: z.strictObject({
      device: deviceArgument,
      expirationDate: date
        .nullable()
        .describe('The day on which it expires (YYYY-MM-DD); null: without an end.'),
    }),
    run: async (api, { device: given, expirationDate }) => {
      const { id, state } = await findDevice(api, given)
      const path = `/api/devices/${id}/reactivate`
      const { device } = await api<{ device: Device }>('POST', path, { body: { expirationDate } })
      const end = expirationDate === null ? 'without an end' : `until ${expirationDate}`
      return {
        summary: `${labelOf(device)} was ${state} and is active now, ${end}.`,
        data: { state: device.state, expires: device.expires },
      }
    },
  }),
  defineTool({
    name: 'set_device_limits',
    title: 'Set the limits of a device',
    description:
      'CHANGES: how many e-mails and SMS the alerts of a device may send a day, and when it expires. Beyond a limit people get no message. A later end makes an expired device active again and takes a license, which costs money; a date that is past makes the device expire and frees its license. What is left out stays.',
    scope: 'write',
    effect: CHANGES,
    input: z.strictObject({
      device: deviceArgument,
      dailyEmailLimit: z.int().min(0).max(100_000).optional(),
      dailySmsLimit: z.int().min(0).max(100_000).optional(),
      expirationDate: date
        .nullable()
        .optional()
        .describe(
          'The day on which it expires (YYYY-MM-DD); null: never. Takes a license if the device is expired; a past date expires it.',
        ),
    }),
    run: async (api, { device: given, expirationDate, ...daily }) => {
      const before = await findDevice(api, given)
      const end =
        expirationDate === undefined ? {} : { expires: expirationDate !== null, expirationDate }
      const limits = { ...daily, ...end }
      if (Object.keys(limits).length === 0) throw new ToolError('Name at least one limit.')
      const { device } = await api<{ device: Device }>('PATCH', `/api/devices/${before.id}`, {
        body: { limits },
      })
      return {
        summary: `Changed the limits of ${labelOf(device)}.`,
        data: { before: before.limits, now: device.limits, state: device.state },
      }
    },
  }),
  defineTool({
    name: 'send_command',
    title: 'Send a command to a device',
    description:
      'SENDS: a text or bytes to the device, by its satellite network or by SMS. It cannot be taken back, may change what the device does, and may cost money.',
    scope: 'execute',
    effect: { isDestructive: true, isIdempotent: false, isOutside: true },
    input: z.strictObject({
      device: deviceArgument,
      command: z.string().min(1).max(2000).describe('The text, or the bytes in the format named.'),
      format: z.enum(['Text', 'Hex', 'Base64']).default('Text'),
      sms: z.boolean().default(false).describe('Send it by SMS to the number of the device.'),
      idempotencyKey,
    }),
    run: async (api, { device, idempotencyKey: key, ...body }) => {
      // A token that may only send commands cannot look a device up.
      const id = /^dev_[0-9a-z]+$/.test(device) ? device : (await findDevice(api, device)).id
      const path = `/api/devices/${id}/sendCommand`
      const call = { body, idempotencyKey: key }
      const reply = await api<z.output<typeof sendCommand.reply>>('POST', path, call)
      const { command, result } = reply
      return {
        summary: `Sent the command to ${id} ${body.sms ? 'by SMS' : 'by its network'}: ${command.status}.`,
        data: { command, result },
      }
    },
  }),
  defineTool({
    name: 'create_watch',
    title: 'Create a watch',
    description:
      'CHANGES: from now on the device, or somebody with it, has to check in by a time or again and again. A missed check-in raises an alert, which sends messages to people.',
    scope: 'write',
    effect: { isDestructive: false, isIdempotent: false, isOutside: true },
    input: z.strictObject({
      device: deviceArgument,
      name: z.string().min(1).max(200).describe('What people call it.'),
      due: z.string().max(40).optional().describe('By when (ISO 8601); or everyMinutes.'),
      everyMinutes: z.int().min(1).optional().describe('How often; or due.'),
      graceMinutes: z.int().min(0).default(0).describe('How long after it the alert is raised.'),
      counts: z
        .enum(['any', 'message', 'checkIn'])
        .default('any')
        .describe('What is a check-in: any contact, a message of the device, or a person’s own.'),
      emergency: z.boolean().default(false).describe('Whether the alert is an emergency.'),
      idempotencyKey,
    }),
    run: async (api, { device: given, idempotencyKey: key, ...rest }) => {
      const device = await findDevice(api, given)
      const call = { body: { ...rest, deviceId: device.id }, idempotencyKey: key }
      const reply = await api<{ watch: z.output<typeof watchSchema> }>('POST', '/api/watches', call)
      const { id, name, nextDue, state, everyMinutes, graceMinutes, counts } = reply.watch
      return {
        summary: `Created the watch “${name}” (${id}) of ${labelOf(device)}. The first check-in is due ${nextDue}.`,
        data: { id, nextDue, state, everyMinutes, graceMinutes, counts },
      }
    },
  }),
]
