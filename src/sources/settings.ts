import type { SourceProvider } from '../domain/account/source.ts'
import { KNOTS, METRES_PER_SECOND } from './decoding/values.ts'

/* Which settings a provider has, beside those of every source. */

/** Hosts of Garmin IPC Inbound. There are no others: a command must not go elsewhere. */
export const GARMIN_HOSTS = [
  'ipcinbound.inreachapp.com',
  'explore.garmin.com',
  'eur-enterprise.inreach.garmin.com',
] as const

/** What `speed` of OsmAnd's protocol counts, by a factor to km/h. */
export const SPEED_UNITS = { kn: KNOTS, 'm/s': METRES_PER_SECOND, 'km/h': 1 } as const
export type SpeedUnit = keyof typeof SPEED_UNITS

/** OwnTracks fills the key with zeros up to so many bytes. */
export const MAX_KEY_BYTES = 32

/** Write-only: kept by the ledger and answered null. */
export const SECRET_SETTINGS = ['apiKey', 'password', 'encryptionKey'] as const
export type SecretSetting = (typeof SECRET_SETTINGS)[number]
export type SourceSecrets = Partial<Record<SecretSetting, string | null>>

export const NO_SECRETS: Readonly<Record<SecretSetting, null>> = {
  apiKey: null,
  password: null,
  encryptionKey: null,
}

const OF_PROVIDER: Readonly<Partial<Record<SourceProvider, readonly string[]>>> = {
  garmin: ['host', 'apiKey', 'userName', 'password', 'sender'],
  rockblock: ['requireJwt', 'userName', 'password'],
  rock7: ['requireJwt'],
  osmand: ['speedUnit'],
  owntracks: ['encryptionKey'],
}

export const settingsOf = (provider: SourceProvider): readonly string[] =>
  OF_PROVIDER[provider] ?? []

const isSecret = (name: string): name is SecretSetting =>
  (SECRET_SETTINGS as readonly string[]).includes(name)

/**
 * What is stored in the cell, and what only the ledger keeps. Null and left out are the same; an
 * empty secret deletes the stored one.
 */
export const splitSettings = (
  settings: Record<string, unknown>,
): { open: Record<string, unknown>; secrets: SourceSecrets } => {
  const given = Object.entries(settings).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  return {
    open: Object.fromEntries(given.filter(([name]) => !isSecret(name))),
    secrets: Object.fromEntries(
      given.filter(([name]) => isSecret(name)).map(([name, value]) => [name, value || null]),
    ) as SourceSecrets,
  }
}

/** With null for every setting of the provider that is not set, and for every secret. */
export const shownSettings = (
  provider: SourceProvider,
  settings: Record<string, unknown>,
): Record<string, unknown> =>
  Object.fromEntries(
    settingsOf(provider).map((name) => [name, isSecret(name) ? null : (settings[name] ?? null)]),
  )

/** The settings by which a source's pushes are decoded. */
export interface PushSettings {
  /** Refuse a RockBLOCK or Rock 7 push that is not signed. */
  requireJwt?: boolean | undefined
  speedUnit?: SpeedUnit | undefined
  encryptionKey?: string | undefined
}

export const hasEncryption = (provider: SourceProvider): boolean =>
  settingsOf(provider).includes('encryptionKey')
