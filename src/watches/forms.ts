import * as z from 'zod'
import { alertName, notifications } from '../alerts/forms.ts'
import {
  MAX_GRACE_MINUTES,
  MAX_WATCH_MINUTES,
  WATCH_ALERT,
  WATCH_COUNTS,
} from '../domain/watch/watch.ts'
import { instant, name } from '../http/contract/wire.ts'

const minutes = (min: number, max: number) =>
  z
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

const isOnePromise = ({ due, everyMinutes }: { due: unknown; everyMinutes: unknown }): boolean =>
  (due === null) !== (everyMinutes === null)

const isReminderInside = (given: { everyMinutes: unknown; remindMinutes: unknown }): boolean =>
  typeof given.everyMinutes !== 'number' ||
  typeof given.remindMinutes !== 'number' ||
  given.remindMinutes < given.everyMinutes

export const deadline = instant.meta({
  description: 'By when somebody has to check in. It must be in the future.',
  example: '2027-03-03T18:00:00.000Z',
})

export const watchBody = z
  .strictObject({
    name: name.meta({ description: 'What people call the watch.', example: 'Crossing to Faial' }),
    deviceId: z
      .string('must be a device’s id')
      .max(64, 'must be a device’s id')
      .meta({ description: 'The device.', example: 'dev_1jn7wz3h4q8v2n5t7r6m0p' }),
    due: deadline.nullable().default(null).meta({
      description:
        'By when somebody has to check in; either this or `everyMinutes`. A new one must be in the future.',
      example: null,
    }),
    everyMinutes: minutes(1, MAX_WATCH_MINUTES).nullable().default(null).meta({
      description: 'Instead of `due`: how long after each check-in the next one is due.',
      example: 360,
    }),
    graceMinutes: minutes(0, MAX_GRACE_MINUTES).default(0).meta({
      description: 'How long after the deadline the alert is raised.',
      example: 15,
    }),
    counts: z
      .enum(WATCH_COUNTS, `must be one of ${WATCH_COUNTS.join(', ')}`)
      .default('any')
      .meta({
        description:
          'What is a check-in. `any`: whatever comes from the device; `message`: a message of the device that all is well; `checkIn`: a person’s own, by the API, the console, the link, or the text CHECK-IN. A later one of these counts for an earlier one too.',
      }),
    remindMinutes: minutes(0, MAX_WATCH_MINUTES).nullable().default(null).meta({
      description:
        'How long before the deadline the device is reminded by a command, where it has a channel. Null: never. With `everyMinutes` it must be less than that.',
      example: 30,
    }),
    alertName: alertName.default(WATCH_ALERT).meta({
      description: 'The name of the alert that a missed check-in raises.',
      example: WATCH_ALERT,
    }),
    emergency: z
      .boolean('must be true or false')
      .default(false)
      .meta({ description: 'Whether that alert is an emergency.' }),
    notifications,
  })
  .refine(isOnePromise, {
    error: 'is required, or everyMinutes instead; not both',
    path: ['due'],
  })
  .refine(isReminderInside, { error: 'must be less than the interval', path: ['remindMinutes'] })
  .meta({ id: 'WatchBody' })
