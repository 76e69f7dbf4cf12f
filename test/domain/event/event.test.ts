import { describe, expect, test } from 'vitest'
import {
  type Addressed,
  EVENT_PATTERNS,
  EVENT_TYPES,
  isWanted,
  passes,
} from '../../../src/domain/event/event.ts'

const everything = { types: [], devices: [], groups: [] }
const ofDevice: Addressed = { type: 'alert.raised', deviceId: 'dev_1', groups: ['grp_1', 'grp_2'] }
const ofAccount: Addressed = { type: 'license.exhausted', deviceId: null, groups: [] }

describe('patterns', () => {
  test('a star matches all types, a kind its own types, a type itself', () => {
    for (const type of EVENT_TYPES) {
      expect(isWanted(['*'], type)).toBe(true)
      expect(isWanted([type], type)).toBe(true)
      expect(EVENT_PATTERNS.filter((pattern) => isWanted([pattern], type))).toEqual([
        '*',
        type.replace(/\..*/, '.*'),
        type,
      ])
    }
  })

  test('a kind does not match a type that only begins like it', () => {
    expect(isWanted(['device.*'], 'devices.created')).toBe(false)
    expect(isWanted(['device.*'], 'device')).toBe(false)
    expect(isWanted([], 'device.created')).toBe(false)
  })
})

describe('filters', () => {
  test('everything passes an empty filter', () => {
    expect(passes(everything, null, ofDevice)).toBe(true)
    expect(passes(everything, null, ofAccount)).toBe(true)
  })

  test('types, devices and groups filter; matching a device or a group is enough', () => {
    expect(passes({ ...everything, types: ['alert.*'] }, null, ofDevice)).toBe(true)
    expect(passes({ ...everything, types: ['device.*'] }, null, ofDevice)).toBe(false)
    expect(passes({ ...everything, devices: ['dev_1'] }, null, ofDevice)).toBe(true)
    expect(passes({ ...everything, devices: ['dev_2'] }, null, ofDevice)).toBe(false)
    expect(passes({ ...everything, groups: ['grp_2'] }, null, ofDevice)).toBe(true)
    expect(passes({ ...everything, groups: ['grp_3'] }, null, ofDevice)).toBe(false)
    expect(passes({ ...everything, devices: ['dev_2'], groups: ['grp_1'] }, null, ofDevice)).toBe(
      true,
    )
    expect(
      passes({ types: ['device.*'], devices: ['dev_1'], groups: ['grp_1'] }, null, ofDevice),
    ).toBe(false)
  })

  test('an event without a device does not pass a filter of devices or groups', () => {
    expect(passes({ ...everything, devices: ['dev_1'] }, null, ofAccount)).toBe(false)
    expect(passes({ ...everything, groups: ['grp_1'] }, null, ofAccount)).toBe(false)
  })

  test('a confined user gets only events of its group, whatever the filter', () => {
    expect(passes(everything, 'grp_1', ofDevice)).toBe(true)
    expect(passes(everything, 'grp_3', ofDevice)).toBe(false)
    expect(passes(everything, 'grp_1', ofAccount)).toBe(false)
    expect(passes({ ...everything, devices: ['dev_1'] }, 'grp_3', ofDevice)).toBe(false)
    expect(passes({ ...everything, groups: ['grp_1'] }, 'grp_3', ofDevice)).toBe(false)
  })

  test('a confined user does not find out which other groups a device is in', () => {
    expect(passes({ ...everything, groups: ['grp_1'] }, 'grp_1', ofDevice)).toBe(true)
    expect(passes({ ...everything, groups: ['grp_2'] }, 'grp_1', ofDevice)).toBe(false)
    expect(
      passes({ ...everything, groups: ['grp_2'], devices: ['dev_1'] }, 'grp_1', ofDevice),
    ).toBe(true)
  })
})
