import * as z from 'zod'
import { CHANNELS } from '../domain/message/alert.ts'
import { MAX_WATCHES, WATCH_COUNTS, WATCH_STATES } from '../domain/watch/watch.ts'
import { define } from '../http/contract/contract.ts'
import { id, success, time } from '../http/contract/wire.ts'
import { resource } from '../http/resource/contract.ts'
import { deadline, watchBody } from './forms.ts'

const tag = 'Watches'

export const watch = z
  .object({
    id: id('wat').meta({ description: 'The watch’s id.' }),
    name: z.string().meta({ description: 'What people call it.', example: 'Crossing to Faial' }),
    deviceId: id('dev').meta({ description: 'The device.' }),
    due: time.nullable().meta({ description: 'The deadline; null for an interval.' }),
    everyMinutes: z
      .int()
      .nullable()
      .meta({ description: 'The interval; null for a deadline.', example: null }),
    graceMinutes: z
      .int()
      .meta({ description: 'How long after the deadline the alert is raised.', example: 15 }),
    counts: z.enum(WATCH_COUNTS).meta({ description: 'What is a check-in.' }),
    remindMinutes: z.int().nullable().meta({
      description: 'How long before the deadline the device is reminded; null: never.',
      example: 30,
    }),
    alertName: z
      .string()
      .meta({ description: 'The name of its alerts.', example: 'MissedCheckIn' }),
    emergency: z.boolean().meta({ description: 'Whether its alerts are emergencies.' }),
    notifications: z
      .array(z.enum(CHANNELS))
      .meta({ description: 'The channels to send messages by.' }),
    state: z.enum(WATCH_STATES).meta({
      description:
        '`overdue`: the deadline and the grace have passed without a check-in. A check-in completes a watch with a deadline, and sets an interval going again.',
    }),
    nextDue: time.meta({ description: 'By when the next check-in is due, without the grace.' }),
    lastCheckIn: time
      .nullable()
      .meta({ description: 'When the last check-in arrived; null before the first.' }),
    alertId: id('alr').nullable().meta({
      description:
        'The alert that the watch raised last; null if there is none, or it is deleted or joined another emergency.',
      example: null,
    }),
    creation: time.meta({ description: 'When the watch was created.' }),
    lastModified: time.meta({ description: 'When it was last edited or extended.' }),
  })
  .meta({ id: 'Watch' })

const url = z.string().meta({
  description:
    'The address of a page on which anybody who has it can check in, without signing in. To programs that act for a user, and to the operator’s support, the reply to `POST /api/watches` has the empty text, and `/link` is refused: the address would outlast their access.',
  example: 'https://perigee.example.com/c/001jn7wz3h4q8v2n',
})

const EXAMPLE = {
  name: 'Crossing to Faial',
  deviceId: 'dev_1jn7wz3h4q8v2n5t7r6m0p',
  everyMinutes: 360,
  graceMinutes: 15,
  counts: 'message',
  remindMinutes: 30,
  emergency: true,
}

export const watches = resource({
  name: 'watch',
  plural: 'watches',
  tag,
  reading: { scope: 'read' },
  writing: { scope: 'write' },
  schema: watch,
  body: watchBody,
  ignored: ['url'],
  shownOnce: { url },
  list: {
    description:
      'In the order in which they were created. A user who is confined to a group sees the watches of its devices.',
    filters: {
      deviceId: z
        .string()
        .max(64, 'must be a device’s id')
        .optional()
        .meta({ description: 'Only those of this device.' }),
      state: z
        .enum(WATCH_STATES, `must be one of ${WATCH_STATES.join(', ')}`)
        .optional()
        .meta({ description: 'Only those in this state.' }),
    },
  },
  create: {
    description: `Somebody promises to report: by \`due\`, or every so many minutes. If \`nextDue\` and the grace pass without a check-in, the alert is raised once, within a minute; a disabled account is not watched. At most ${MAX_WATCHES} of an account can run at a time; those that have ended are deleted, oldest first, when there would be more than that in all.`,
    problems: ['watch-limit-reached'],
    example: EXAMPLE,
  },
  edit: { problems: ['watch-ended'] },
  replace: {
    description:
      'Another deadline, interval or device starts the watch anew. One that has ended cannot be started again.',
    example: EXAMPLE,
  },
  patch: { example: { graceMinutes: 30 } },
})

/** What the steps of a watch have in common. */
const step = {
  tag,
  scope: 'write',
  reply: watches.read.reply,
  etag: true,
  idempotent: true,
  ignoresStorage: true,
  problems: ['watch-not-found', 'watch-ended', 'conflict'],
} as const

export const checkInWatch = define({
  ...step,
  id: 'checkInWatch',
  purpose: 'urgent',
  summary: 'Check in',
  description:
    'A person’s own check-in, which counts for every watch. It completes a watch with a deadline, also an overdue one, and sets an interval going again from now.',
})

export const extendWatch = define({
  ...step,
  id: 'extendWatch',
  purpose: 'urgent',
  summary: 'Move the deadline of a watch',
  description:
    'An overdue watch is active again. Of an interval, only the next check-in is due at another time.',
  body: z.strictObject({ due: deadline }).meta({ id: 'WatchExtension' }),
})

export const completeWatch = define({
  ...step,
  id: 'completeWatch',
  purpose: 'urgent',
  summary: 'Complete a watch',
  description: 'The journey is over: nothing more is due.',
})

export const cancelWatch = define({
  ...step,
  id: 'cancelWatch',
  summary: 'Cancel a watch',
  description: 'The watch is no longer wanted: nothing more is due.',
})

export const showWatchLink = define({
  id: 'showWatchLink',
  tag,
  summary: 'Show the link of a watch',
  description: 'The link stays the same.',
  scope: 'write',
  ignoresStorage: true,
  reply: z.object({ success, url }),
  problems: ['watch-not-found'],
})
