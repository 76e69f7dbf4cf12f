import * as z from 'zod'
import { isCommonPassword } from '../../domain/account/commonPassword.ts'
import { checkPublicUrl } from '../../domain/text/publicUrl.ts'
import { isDay, isTimeZone } from '../../domain/time/day.ts'
import { freeForm } from './validation.ts'

/* Schemas that several contracts share. */

export const line = (maxLength: number) =>
  z.string('must be text').max(maxLength, `must have at most ${maxLength} characters`)
/** At least one character after trimming. */
export const name = line(200).trim().min(1, 'must not be empty')

/** The search text of a list; empty text means no search. */
export const search = z
  .string()
  .trim()
  .max(200, 'must have at most 200 characters')
  .optional()
  .transform((text) => text || undefined)

export const day = z
  .string('must be a date, such as 2027-01-01')
  .refine(isDay, 'must be a date, such as 2027-01-01')
  .meta({ format: 'date', example: '2027-01-01' })

/** Allows loopback: the route rejects it unless ALLOW_LOOPBACK_WEBHOOKS is set. */
export const publicUrl = z
  .string('must be a URL')
  .superRefine((text, context) => {
    const check = checkPublicUrl(text, true)
    if (!check.ok) context.addIssue({ code: 'custom', message: check.detail })
  })
  .meta({ format: 'uri' })

const PHONE = 'must be a phone number in E.164, such as +881632000000'
/** E.164. Satellite numbers (+870, +881, +882 16) have the usual length. */
export const phone = z
  .string('must be a phone number')
  .regex(/^\+[1-9]\d{6,14}$/, PHONE)
  .meta({ example: '+881632000000' })
/** The same as people write it, with spaces, brackets and hyphens; or nothing. */
export const writtenPhone = z
  .string('must be text')
  .max(32, 'must have at most 32 characters')
  .regex(/^$|^\+[\s()-]*[1-9](?:[\s()-]*\d){6,14}[\s()-]*$/, PHONE)

export const timeZone = z
  .string('must be an IANA time zone, such as Europe/Lisbon')
  .refine(isTimeZone, 'must be an IANA time zone, such as Europe/Lisbon')
  .meta({ description: 'An IANA time zone.', example: 'Europe/Lisbon' })

const MIN_PASSWORD_LENGTH = 12
const TOO_SHORT = `must have at least ${MIN_PASSWORD_LENGTH} characters`

/** A password to set. An emoji is one character, although JavaScript counts two. */
export const newPassword = z
  .string('must be text')
  .min(MIN_PASSWORD_LENGTH, TOO_SHORT)
  .max(256, 'must have at most 256 characters')
  .refine(
    (text) => text.length < MIN_PASSWORD_LENGTH || [...text].length >= MIN_PASSWORD_LENGTH,
    TOO_SHORT,
  )
  .refine(
    (text) => !isCommonPassword(text),
    'must not be a common password: use words or characters that nobody would guess',
  )

const YEARS = 'must be within the years 0000 to 9999 in UTC'
/** Replies are in UTC and have years of four digits. */
const FIRST_INSTANT = Date.parse('0000-01-01T00:00:00Z')
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z')

/** A date-time with any offset, parsed to milliseconds. */
export const instant = z.iso
  .datetime({
    offset: true,
    error: 'must be a date-time with an offset, such as 2026-11-14T09:30:00Z',
  })
  .transform((text) => Date.parse(text))
  .pipe(
    z.number('must be a date-time that exists').min(FIRST_INSTANT, YEARS).max(LAST_INSTANT, YEARS),
  )
  .meta({ example: '2026-11-14T09:30:00.000Z' })

/** In a URL an unescaped plus arrives as a space. */
export const instantInUrl = z.preprocess(
  (text) => (typeof text === 'string' ? text.replace(/ (?=\d\d:\d\d$)/, '+') : text),
  instant,
)

/** A date-time in a reply. */
export const time = z.iso.datetime({ precision: 3 }).meta({ example: '2026-11-14T09:30:00.000Z' })

export const tags = freeForm(z.record(z.string().max(64), z.string('must be text').max(1024))).meta(
  {
    description: 'Your own names and values. At most 8 KiB.',
    example: { fleet: 'north' },
  },
)

export const splitAtCommas = (text: string): string[] =>
  text.split(',').filter((part) => part !== '')

/** Ids separated by commas, in a query. */
export const idList = (max: number) =>
  z
    .string()
    .max(8192)
    .transform(splitAtCommas)
    .pipe(
      z
        .array(z.string().max(64, 'must be ids separated by commas'))
        .max(max, `must have at most ${max} ids`),
    )

export const id = (prefix: string) =>
  z.string().meta({ example: `${prefix}_1jn7wz3h4q8v2n5t7r6m0p` })

export const success = z
  .literal(true)
  .meta({ description: 'True in every reply that is not an error.', example: true })
export const done = z.object({ success }).meta({ id: 'Done' })

type Rule = { not: object }
const isNull = { type: 'null' }
const both = (one: string, other: string) => ({
  required: [one, other],
  properties: { [one]: { not: isNull }, [other]: { not: isNull } },
})
/** A member that is left out counts as null. */
const neither = (one: string, other: string) => ({
  properties: { [one]: isNull, [other]: isNull },
})

/*
 * Rules about two members, as `override` of a schema for the document. Of `oneOf` generators would
 * make two types; `not` they leave to the server.
 */
export const exactlyOne = (one: string, other: string): Rule => ({
  not: { anyOf: [both(one, other), neither(one, other)] },
})
export const atLeastOne = (one: string, other: string): Rule => ({ not: neither(one, other) })
export const atMostOne = (one: string, other: string): Rule => ({ not: both(one, other) })
