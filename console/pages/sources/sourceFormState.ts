import { changesOf } from '../../api/changes.ts'
import type { PastedPush, Source, SpeedUnit } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import type { Provider } from './samples.ts'

/* What is typed into the form of a source, and what is sent of it. */

export interface SourceDraft {
  name: string
  provider: Provider
  newDevices: Source['newDevices']
  keepRaw: boolean
  host: string
  sender: string
  apiKey: string
  userName: string
  password: string
  requireJwt: boolean
  speedUnit: string
  encryptionKey: string
  /** The stored key is deleted. */
  removesKey: boolean
}

type Setting = Exclude<
  keyof SourceDraft,
  'name' | 'provider' | 'newDevices' | 'keepRaw' | 'removesKey'
>

const SETTINGS: Partial<Record<Provider, readonly Setting[]>> = {
  garmin: ['host', 'sender', 'apiKey', 'userName', 'password'],
  rockblock: ['requireJwt', 'userName', 'password'],
  rock7: ['requireJwt'],
  osmand: ['speedUnit'],
  owntracks: ['encryptionKey'],
}
const SECRETS: readonly Setting[] = ['apiKey', 'password', 'encryptionKey']

export const SPEED_UNITS = Object.entries(later.sources.speedUnits).map(([value, label]) => ({
  value,
  label,
}))

/** Version 2 of Garmin IPC Inbound takes a key, version 1 a user name and a password. */
export const GARMIN_V2 = 'ipcinbound.inreachapp.com'

/** The settings that the form shows. */
export const settingsOf = ({ provider, host }: SourceDraft): readonly Setting[] => {
  const all = SETTINGS[provider] ?? []
  if (provider !== 'garmin') return all
  const isVersion2 = host === GARMIN_V2
  return all.filter((name) =>
    isVersion2 ? name !== 'userName' && name !== 'password' : name !== 'apiKey',
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export const draftOf = (source: Source | null): SourceDraft => {
  const settings = source?.settings ?? {}
  return {
    name: source?.name ?? '',
    provider: source?.provider ?? 'garmin',
    newDevices: source?.newDevices ?? 'hold',
    keepRaw: source?.keepRaw ?? false,
    host: textOf(settings.host) || GARMIN_V2,
    sender: textOf(settings.sender),
    apiKey: '',
    userName: textOf(settings.userName),
    password: '',
    requireJwt: settings.requireJwt === true,
    speedUnit: textOf(settings.speedUnit) || 'kn',
    encryptionKey: '',
    removesKey: false,
  }
}

/**
 * Empty fields are null; a secret that is empty is left out, so that the stored one stays. Spaces
 * may be part of a key.
 */
const settingsBody = (draft: SourceDraft): Record<string, unknown> =>
  Object.fromEntries(
    settingsOf(draft).flatMap((name): [string, unknown][] => {
      const value = draft[name]
      if (typeof value === 'boolean') return [[name, value]]
      if (name === 'encryptionKey' && draft.removesKey) return [[name, '']]
      const typed = name === 'encryptionKey' ? value : value.trim()
      if (typed === '' && SECRETS.includes(name)) return []
      return [[name, typed || null]]
    }),
  )

const membersOf = ({ name, newDevices, keepRaw }: SourceDraft) => ({
  name: name.trim(),
  newDevices,
  keepRaw,
})

export const bodyOf = (draft: SourceDraft) => ({
  ...membersOf(draft),
  provider: draft.provider,
  settings: Object.fromEntries(
    Object.entries(settingsBody(draft)).filter(([, value]) => value !== null),
  ),
})

/** The settings that decide how a payload is decoded. */
export const decodeSettings = (
  provider: Provider,
  { speedUnit, encryptionKey }: { speedUnit?: unknown; encryptionKey?: unknown },
): Pick<PastedPush, 'settings'> => {
  if (provider === 'osmand' && speedUnit) return { settings: { speedUnit: speedUnit as SpeedUnit } }
  const key = provider === 'owntracks' && textOf(encryptionKey)
  return key ? { settings: { encryptionKey: key } } : {}
}

/** A merge patch of what was changed. */
export const patchOf = (before: SourceDraft, after: SourceDraft): Record<string, unknown> => {
  const settings = changesOf(settingsBody(before), settingsBody(after))
  return {
    ...changesOf(membersOf(before), membersOf(after)),
    ...(Object.keys(settings).length > 0 && { settings }),
  }
}
