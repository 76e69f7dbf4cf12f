import * as z from 'zod'
import { alertName } from '../alerts/forms.ts'
import {
  DEFAULT_EMERGENCY_SETTINGS,
  MAX_AFTER_MINUTES,
  MAX_EMERGENCY_ALERTS,
  MAX_EMERGENCY_CONTACTS,
  MAX_NOTICE_LIMIT,
  MAX_ROUNDS,
} from '../domain/message/emergency.ts'
import { atLeastOne, name, phone } from '../http/contract/wire.ts'
import { email } from '../users/forms.ts'

/* The account's settings for emergencies, in requests and replies alike. */

const ABOUT = {
  emergencyAlerts: 'The names of alerts that are emergencies.',
  emergencyContacts: `People who are notified when an emergency reaches nobody, and when it is sent again; at most ${MAX_EMERGENCY_CONTACTS}.`,
  contactName: 'The contact’s name.',
  contactEmail: 'Receives notices and escalations by e-mail.',
  contactPhone:
    'Receives notices and escalations by SMS, and calls where `escalation.voice` is set; in E.164.',
  escalation:
    'When an emergency that nobody has acknowledged is sent again, to everyone who was sent a message and to the emergency contacts; null: never. As long as it was never set, it is `{ "afterMinutes": 10, "rounds": 1 }` for an account with an emergency contact, and null for others.',
  afterMinutes: 'How long to wait before each round.',
  rounds: 'How many times it is sent again.',
  againAfterMinutes:
    'After how long an acknowledged emergency that is not over, and in which no step happens, is escalated again; null: never. A change counts from now for those that are acknowledged already.',
  voice:
    'Whether each round also calls the users who receive calls, and the emergency contacts with a phone number.',
  dailyNoticeLimit:
    'How many notices the account may send on one day of its time zone; half of them are kept for emergencies of its devices. Beyond it they are `suppressed`; events still come. Escalations do not count: they have a budget of their own, as large as `budgets.messagesPerDay`.',
  noticeEmails: 'How many of them by e-mail.',
  noticeSms: 'How many of them by SMS.',
} as const

const CONTACTS_EXAMPLE = [
  { name: 'Harbour office', email: 'office@example.com', phone: '+881632000000' },
]

const ESCALATION_EXAMPLE = { afterMinutes: 10, rounds: 3, againAfterMinutes: null, voice: false }

const whole = (min: number, max: number) =>
  z
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

/** Null means left out. */
const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((given) => given ?? undefined)

const contact = z
  .strictObject({
    name: name.meta({ description: ABOUT.contactName }),
    email: optional(email).meta({ description: ABOUT.contactEmail }),
    phone: optional(phone).meta({ description: ABOUT.contactPhone }),
  })
  .refine((given) => given.email !== undefined || given.phone !== undefined, {
    error: 'must have an e-mail address or a phone number',
  })
  .meta({ override: atLeastOne('email', 'phone') })

const escalation = z.strictObject({
  afterMinutes: whole(1, MAX_AFTER_MINUTES).meta({ description: ABOUT.afterMinutes }),
  rounds: whole(1, MAX_ROUNDS).meta({ description: ABOUT.rounds }),
  againAfterMinutes: whole(1, MAX_AFTER_MINUTES)
    .nullable()
    .default(null)
    .meta({ description: ABOUT.againAfterMinutes }),
  voice: z.boolean('must be true or false').default(false).meta({ description: ABOUT.voice }),
})

const { dailyNoticeLimit } = DEFAULT_EMERGENCY_SETTINGS

/** The members of a request. */
export const emergencySettings = {
  emergencyAlerts: z
    .array(alertName, 'must be a list of names')
    .max(MAX_EMERGENCY_ALERTS, `must have at most ${MAX_EMERGENCY_ALERTS} names`)
    .transform((names) => [...new Set(names)])
    .default(DEFAULT_EMERGENCY_SETTINGS.emergencyAlerts)
    .meta({ description: ABOUT.emergencyAlerts, example: ['SOSButton'] }),
  emergencyContacts: z
    .array(contact, 'must be a list of contacts')
    .max(MAX_EMERGENCY_CONTACTS, `must have at most ${MAX_EMERGENCY_CONTACTS} contacts`)
    .default([])
    .meta({ description: ABOUT.emergencyContacts, example: CONTACTS_EXAMPLE }),
  escalation: escalation
    .nullable()
    .default(null)
    .meta({ description: ABOUT.escalation, example: ESCALATION_EXAMPLE }),
  dailyNoticeLimit: z
    .strictObject({
      email: whole(0, MAX_NOTICE_LIMIT)
        .default(dailyNoticeLimit.email)
        .meta({ description: ABOUT.noticeEmails }),
      sms: whole(0, MAX_NOTICE_LIMIT)
        .default(dailyNoticeLimit.sms)
        .meta({ description: ABOUT.noticeSms }),
    })
    .prefault({})
    .meta({ description: ABOUT.dailyNoticeLimit, example: dailyNoticeLimit }),
}

/** The members of a reply. */
export const shownEmergencySettings = {
  emergencyAlerts: z
    .array(z.string())
    .meta({ description: ABOUT.emergencyAlerts, example: ['SOSButton'] }),
  emergencyContacts: z
    .array(
      z.object({
        name: z.string().meta({ description: ABOUT.contactName }),
        email: z.string().optional().meta({ description: ABOUT.contactEmail }),
        phone: z.string().optional().meta({ description: ABOUT.contactPhone }),
      }),
    )
    .meta({ description: ABOUT.emergencyContacts, example: CONTACTS_EXAMPLE }),
  escalation: z
    .object({
      afterMinutes: z.int().meta({ description: ABOUT.afterMinutes }),
      rounds: z.int().meta({ description: ABOUT.rounds }),
      againAfterMinutes: z.int().nullable().meta({ description: ABOUT.againAfterMinutes }),
      voice: z.boolean().meta({ description: ABOUT.voice }),
    })
    .nullable()
    .meta({ description: ABOUT.escalation, example: ESCALATION_EXAMPLE }),
  dailyNoticeLimit: z
    .object({
      email: z.int().meta({ description: ABOUT.noticeEmails }),
      sms: z.int().meta({ description: ABOUT.noticeSms }),
    })
    .meta({ description: ABOUT.dailyNoticeLimit, example: dailyNoticeLimit }),
}
