import * as z from 'zod'
import {
  MAX_NOTE_LENGTH,
  MAX_NOTES,
  MAX_RECIPIENTS,
  MAX_SPAN_ALERTS,
} from '../domain/message/alert.ts'
import { define } from '../http/contract/contract.ts'
import { instantInUrl, line, success } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { isInOrder, OUT_OF_ORDER } from '../http/paging/rangeQuery.ts'
import { type AlertsBody, alertName, forms, readBody, sort, state } from './forms.ts'
import { alert, summary } from './schemas.ts'

/** What a message has in common with a delivery. */
export const messageSummary = summary

const reply = z.object({ success, alert })
const page = z.object({ success, alerts: z.array(alert), nextCursor })
const tag = 'Alerts'

export const postAlerts = define({
  id: 'postAlerts',
  purpose: 'intake',
  tag,
  summary: 'Raise an alert, or query a device’s alerts',
  ignoresStorage: true,
  description: `A body with \`alert\`, or with the members of an alert, raises it (scope \`ingest\` or \`write\`). The alert is stored and sent to the users of the account who can see the device and want messages by that channel, within the device’s daily limits.

An emergency of the same device and name within an hour of one that is still \`open\` joins it: the reply has the open one, with the new place in \`updates\`, and a message is sent only to those whom the open one has not notified. The account’s administrators and emergency contacts are notified of an emergency that reaches nobody, and of one of an expired device, at most once in ten minutes; other alerts of an expired device are refused.

With \`test: true\` (scope \`write\`) it is a drill: it takes the way of an emergency, every message begins with TEST, and no limit or counter includes it.

A body with \`from\`, \`to\` or both, and without an alert, is a query (scope \`read\`); its reply is 200, both ends of the span included. Without \`limit\` and \`cursor\` it has the whole span, streamed, of at most ${MAX_SPAN_ALERTS.toLocaleString('en')} alerts; a failure while it is sent aborts the reply, which then is not complete JSON. An account may have three long exports and queries running at a time; a fourth is a 429. With \`limit\` or \`cursor\` it has one page.

The status tells the two replies apart: 201 has \`alert\`, 200 has \`alerts\` and \`nextCursor\`. \`GET\` of the same path is the query with one kind of reply.`,
  scope: ['ingest', 'read', 'write'],
  scopeFor: (body: AlertsBody) => {
    if (body.kind === 'query') return 'read'
    return body.alert.test ? 'write' : ['ingest', 'write']
  },
  body: z.union([forms.wrapped, forms.bare, forms.since, forms.until]),
  read: readBody,
  ignored: ['success', 'nextCursor', 'recipientsOmitted', 'warning'],
  status: 201,
  reply: z.object({
    success,
    alert,
    recipientsOmitted: z
      .int()
      .optional()
      .meta({
        description: `How many users get no message because an alert goes to at most ${MAX_RECIPIENTS}. Administrators are left out last, emergency contacts never. Absent when nobody is left out.`,
        example: 12,
      }),
    warning: z.string().optional().meta({
      description:
        'Only for an emergency for which no message is sent: the reason, and whether administrators and emergency contacts are notified instead.',
      example: 'No message is sent for this SOS: …',
    }),
  }),
  alternateReply: { status: 200, reply: page },
  problems: [
    'device-not-found',
    'device-expired',
    'drill-limit-reached',
    'storage-full',
    'invalid-cursor',
    'span-too-large',
  ],
  etag: true,
  idempotent: ({ kind }: AlertsBody) => kind === 'raise',
  example: {
    alert: { alertName: 'SOSButton', text: 'Man overboard', latitude: 38.7223, longitude: -9.1393 },
  },
})

const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .optional()

const listQuery = (order: 'dateTime' | '-dateTime') =>
  z
    .strictObject({
      ...pageQuery,
      from: instantInUrl.optional(),
      to: instantInUrl.optional(),
      alertName: alertName.optional(),
      acknowledged: flag.meta({
        description: 'Only alerts that are acknowledged, or only those that are not.',
      }),
      emergency: flag.meta({ description: 'Only emergencies, or only other alerts.' }),
      state: state.optional().meta({ description: 'Only alerts in this state.' }),
      sort: sort(order),
    })
    .refine(isInOrder, OUT_OF_ORDER)

export const listDeviceAlerts = define({
  id: 'listDeviceAlerts',
  tag,
  summary: 'List a device’s alerts',
  description: 'In order of `dateTime`, ascending by default, both ends of the span included.',
  scope: 'read',
  query: listQuery('dateTime'),
  reply: page,
  problems: ['device-not-found'],
})

export const listAlerts = define({
  id: 'listAlerts',
  tag,
  summary: 'List the account’s alerts',
  description: 'In order of `dateTime`, newest first by default.',
  scope: 'read',
  query: listQuery('-dateTime'),
  reply: page,
})

export const readAlert = define({
  id: 'readAlert',
  tag,
  summary: 'Read an alert',
  scope: 'read',
  reply,
  problems: ['alert-not-found'],
  etag: true,
})

const noteText = line(MAX_NOTE_LENGTH).trim().meta({
  description: 'What was found or done, for the log of the alert.',
  example: 'Helicopter on its way.',
})
const withNote = z.strictObject({
  note: noteText
    .nullish()
    .transform((note) => note || null)
    .meta({ description: 'A note for the log.', example: 'Found, all well.' }),
})

/** What the steps of an alert have in common. */
const step = {
  tag,
  ignoresStorage: true,
  scope: 'write',
  reply,
  etag: true,
  idempotent: true,
} as const

export const acknowledgeAlert = define({
  ...step,
  id: 'acknowledgeAlert',
  purpose: 'urgent',
  summary: 'Acknowledge an alert',
  description:
    'Someone handles it: records who and when, and ends the escalation. Only the first acknowledgement counts; later ones change nothing.',
  problems: ['alert-not-found'],
})

export const resolveAlert = define({
  ...step,
  id: 'resolveAlert',
  purpose: 'urgent',
  summary: 'Resolve an alert',
  description:
    'It is over. Also acknowledges the alert. Only the first time counts; a cancelled alert is refused.',
  optionalBody: true,
  body: withNote,
  problems: ['alert-not-found', 'wrong-alert-state'],
})

export const cancelAlert = define({
  ...step,
  id: 'cancelAlert',
  purpose: 'urgent',
  summary: 'Cancel an alert',
  description:
    'For a false alarm. Also acknowledges the alert, and notifies everyone who was sent a message about it. Only the first cancellation counts; a resolved alert is refused.',
  optionalBody: true,
  body: withNote,
  problems: ['alert-not-found', 'wrong-alert-state'],
})

export const reopenAlert = define({
  ...step,
  id: 'reopenAlert',
  purpose: 'urgent',
  summary: 'Reopen an alert',
  description:
    'Makes an alert that is acknowledged, resolved or cancelled open again. An emergency that was resolved or cancelled is sent again at once, to everyone who was sent a message about it and to the emergency contacts; to reopen one that was only acknowledged notifies nobody. Either is escalated again unless someone acknowledges it. An alert that was never acknowledged, and a drill (`test`), are refused.',
  optionalBody: true,
  body: withNote,
  problems: ['alert-not-found', 'wrong-alert-state', 'alert-log-full'],
})

export const noteAlert = define({
  ...step,
  id: 'noteAlert',
  purpose: 'urgent',
  summary: 'Add a note to an alert',
  description: `In any state. The log of an alert has at most ${MAX_NOTES} notes.`,
  body: z.strictObject({ text: noteText.min(1, 'must not be empty') }),
  problems: ['alert-not-found', 'alert-log-full', 'storage-full'],
})
