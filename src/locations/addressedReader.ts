import type * as z from 'zod'
import { isObject } from '../domain/text/json.ts'
import { dropNulls } from '../http/contract/nulls.ts'
import { readEach, readLocation } from './fastReader.ts'
import { type AddressedLocation, addressedForm } from './forms.ts'

/* Reads a report of many devices, as fast as `fastReader.ts` reads one of a single device. */

interface MixedBody {
  locations: AddressedLocation[]
}

const MAX_NAME_LENGTH = 64

const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= MAX_NAME_LENGTH &&
  value !== '' &&
  value.trim() === value

const readAddressed = (sent: unknown, now: number): AddressedLocation | null => {
  if (!isObject(sent)) return null
  const { deviceId, identifier } = sent
  const isById = isName(deviceId) && identifier === undefined
  const isByIdentifier = isName(identifier) && deviceId === undefined
  if (!isById && !isByIdentifier) return null
  const location = readLocation(sent, now, isById ? 'deviceId' : 'identifier')
  return (
    location && {
      deviceId: isById ? deviceId : null,
      identifier: isByIdentifier ? identifier : null,
      location,
    }
  )
}

export const readMixedBody = (body: unknown): z.ZodSafeParseResult<MixedBody> => {
  const sent = isObject(body) && Object.keys(body).length === 1 ? body.locations : null
  const now = Date.now()
  const locations = Array.isArray(sent) ? readEach(sent, (one) => readAddressed(one, now)) : null
  if (locations) return { success: true, data: { locations } }
  return addressedForm.safeParse(dropNulls(addressedForm, body)) as z.ZodSafeParseResult<MixedBody>
}
