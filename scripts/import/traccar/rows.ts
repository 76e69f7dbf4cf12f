import { deviceBody } from '../../../src/devices/forms.ts'
import { isObject } from '../../../src/domain/text/json.ts'
import { iso } from '../../../src/domain/time/iso.ts'
import { newLocation } from '../../../src/locations/forms.ts'
import { userBody } from '../../../src/users/forms.ts'
import { zones } from '../../../src/zones/contract.ts'
import { areaToShape } from './areas.ts'
import type { TraccarDevice, TraccarGeofence, TraccarPosition, TraccarUser } from './server.ts'

/*
 * What Traccar has as lines of an archive, without their ids. Null for what the API would refuse:
 * one such line would make the whole archive invalid.
 */

const KM_PER_NAUTICAL_MILE = 1.852
const PHONE = /^\+[1-9]\d{6,14}$/

const toPhone = (phone: string | null | undefined): string | null => {
  const digits = (phone ?? '').replaceAll(/[\s()-]/g, '')
  return PHONE.test(digits) ? digits : null
}

export const toDevice = (device: TraccarDevice, isIdentifierTaken: boolean) => {
  const { id, name, uniqueId, phone, model, contact, category } = device
  const record = deviceBody.safeParse({
    name: name.trim().slice(0, 200) || uniqueId,
    description: (contact ?? '').slice(0, 2000),
    min: toPhone(phone) ?? '',
    identifier: isIdentifierTaken ? null : uniqueId,
    model: (model ?? '').slice(0, 200),
    tags: { traccarId: String(id), ...(category && { category }) },
  })
  if (!record.success) return null
  return {
    recorded: false,
    record: record.data,
    createdBy: null,
    expiredEmergencyAt: null,
    sourceId: null,
    lastContact: null,
  }
}

export const toUser = (user: TraccarUser, country: string, timeZone: string) => {
  const { name, email, readonly, administrator, disabled = false, expirationTime } = user
  const parsed = userBody.safeParse({
    name: name?.trim().slice(0, 200) || email,
    email,
    country,
    timeZone,
    phone: toPhone(user.phone),
    disabled,
    privileges: ['read', ...(readonly ? [] : ['write']), ...(administrator ? ['admin'] : [])],
    expires: expirationTime ?? null,
  })
  if (!parsed.success) return null
  const { notify, group, from, expires, password, ...members } = parsed.data
  return {
    ...members,
    notifyEmail: notify.email,
    notifySms: notify.sms,
    notifyPush: notify.push,
    notifyVoice: notify.voice,
    fromTime: null,
    expires: expires === null ? null : iso(expires),
    lastLogin: null,
    lastRefresh: null,
    invitedAt: null,
    lastDisabled: null,
  }
}

export const toZone = ({ name, description, area }: TraccarGeofence) => {
  const shape = areaToShape(area)
  const body = { name, description: (description ?? '').slice(0, 2000), shape }
  const parsed = shape && zones.create.body.safeParse(body)
  return parsed?.success ? parsed.data : null
}

const within = (value: number | undefined, min: number, max: number) =>
  value !== undefined && value >= min && value <= max

/** Values that the API does not take are left out; without a place and a time it is null. */
export const toLocation = (position: TraccarPosition): Record<string, unknown> | null => {
  const { longitude, latitude, fixTime, protocol, attributes } = position
  const { altitude, course, accuracy } = position
  const speed = position.speed && Math.round(position.speed * KM_PER_NAUTICAL_MILE * 100) / 100
  const battery = attributes?.batteryLevel as number | undefined
  const members = {
    dateTime: new Date(fixTime).toJSON(),
    latitude,
    longitude,
    ...(within(altitude, -20_000, 1_000_000) && { altitude }),
    ...(within(speed, 0, 100_000) && { speed }),
    ...(within(course, 0, 360) && { course }),
    ...(accuracy && within(accuracy, 0, 50_000_000) && { accuracy }),
    ...(within(battery, 0, 100) && { battery }),
    ...(protocol && { source: protocol.slice(0, 64) }),
  }
  const hasAttributes = isObject(attributes) && Object.keys(attributes).length > 0
  const whole = hasAttributes ? { ...members, attributes } : members
  for (const form of [whole, members]) if (newLocation.safeParse(form).success) return form
  return null
}
