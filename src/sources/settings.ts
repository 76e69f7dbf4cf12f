import type { SourceProvider } from '../domain/account/source.ts'

/* Which settings a provider has, beside those of every source. */

/** Hosts of Garmin IPC Inbound. There are no others: a command must not go elsewhere. */
export const GARMIN_HOSTS = [
  'ipcinbound.inreachapp.com',
  'explore.garmin.com',
  'eur-enterprise.inreach.garmin.com',
] as const

/** Write-only: kept by the ledger and answered null. */
export const SECRET_SETTINGS = ['apiKey', 'password'] as const
export type SecretSetting = (typeof SECRET_SETTINGS)[number]
export type SourceSecrets = Partial<Record<SecretSetting, string>>

export const NO_SECRETS: Readonly<Record<SecretSetting, null>> = { apiKey: null, password: null }

const OF_PROVIDER: Readonly<Partial<Record<SourceProvider, readonly string[]>>> = {
  garmin: ['host', 'apiKey', 'userName', 'password', 'sender'],
  rockblock: ['requireJwt', 'userName', 'password'],
  rock7: ['requireJwt'],
}

export const settingsOf = (provider: SourceProvider): readonly string[] =>
  OF_PROVIDER[provider] ?? []

const isSecret = (name: string): name is SecretSetting =>
  (SECRET_SETTINGS as readonly string[]).includes(name)

/** What is stored in the cell, and what only the ledger keeps. Null and left out are the same. */
export const splitSettings = (
  settings: Record<string, unknown>,
): { open: Record<string, unknown>; secrets: SourceSecrets } => {
  const given = Object.entries(settings).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  return {
    open: Object.fromEntries(given.filter(([name]) => !isSecret(name))),
    secrets: Object.fromEntries(given.filter(([name]) => isSecret(name))) as SourceSecrets,
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

/** Whether pushes of a source must be signed. */
export const requiresJwt = ({ settings }: { settings: Record<string, unknown> }): boolean =>
  settings.requireJwt === true
