import { describe, expect, test } from 'vitest'
import type { Source } from '../../../../console/api/types.ts'
import {
  bodyOf,
  decodeSettings,
  draftOf,
  patchOf,
  settingsOf,
} from '../../../../console/pages/sources/sourceFormState.ts'

const stored: Source = {
  id: 'src_1',
  name: 'inReach',
  provider: 'garmin',
  enabled: true,
  settings: { host: null, apiKey: null, userName: null, password: null, sender: 'a@b.example' },
  newDevices: 'hold',
  keepRaw: false,
  lastReceived: null,
  unclaimed: 0,
  failures: 0,
  creation: '',
  lastModified: '',
}

describe('the form of a source', () => {
  test('asks for a key or for a password, by the version of Garmin', () => {
    expect(settingsOf(draftOf(stored))).toEqual(['host', 'sender', 'apiKey'])
    const version1 = { ...draftOf(stored), host: 'explore.garmin.com' }
    expect(settingsOf(version1)).toEqual(['host', 'sender', 'userName', 'password'])
  })

  test('sends no settings that the provider does not have', () => {
    expect(bodyOf({ ...draftOf(null), provider: 'spot', name: ' Spots ' })).toEqual({
      name: 'Spots',
      provider: 'spot',
      newDevices: 'hold',
      keepRaw: false,
      settings: {},
    })
  })

  test('leaves a stored secret alone unless another is typed', () => {
    const before = draftOf(stored)
    expect(patchOf(before, before)).toEqual({})
    expect(patchOf(before, { ...before, apiKey: 'new', sender: '' })).toEqual({
      settings: { apiKey: 'new', sender: null },
    })
  })

  test('sends the unit of speed of an app, and leaves or removes a key', () => {
    const osmand = { ...draftOf(null), provider: 'osmand' as const }
    expect(bodyOf(osmand).settings).toEqual({ speedUnit: 'kn' })
    const before = draftOf({ ...stored, provider: 'owntracks', settings: { encryptionKey: null } })
    expect(patchOf(before, before)).toEqual({})
    expect(patchOf(before, { ...before, encryptionKey: ' a b ' })).toEqual({
      settings: { encryptionKey: ' a b ' },
    })
    expect(patchOf(before, { ...before, encryptionKey: 'x', removesKey: true })).toEqual({
      settings: { encryptionKey: '' },
    })
  })

  test('decodes with the unit of speed or the key, each of its own provider', () => {
    const typed = { speedUnit: 'm/s', encryptionKey: ' a b ' }
    expect(decodeSettings('osmand', typed)).toEqual({ settings: { speedUnit: 'm/s' } })
    expect(decodeSettings('owntracks', typed)).toEqual({ settings: { encryptionKey: ' a b ' } })
    expect(decodeSettings('garmin', typed)).toEqual({})
    // Secrets of a stored source are always null.
    const shown = { speedUnit: null, encryptionKey: null }
    expect(decodeSettings('osmand', shown)).toEqual({})
    expect(decodeSettings('owntracks', shown)).toEqual({})
  })
})
