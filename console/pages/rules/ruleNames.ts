import { deviceName } from '../../api/names.ts'
import { readGroups } from '../../api/people.ts'
import { type Resource, useResource } from '../../api/resource.ts'
import type { Group, Rule, Zone } from '../../api/types.ts'
import { readZones } from '../../api/zonesAndRules.ts'
import { text } from '../../text/text.ts'
import { describeRule, type Names } from './sentence.ts'

/* What rules refer to. */

export interface Referred {
  groups: readonly Group[]
  zones: readonly Zone[]
}

export const useReferred = (): Resource<Referred> =>
  useResource<Referred>(async (signal) => {
    const [groups, zones] = await Promise.all([readGroups(signal), readZones(signal)])
    return { groups, zones }
  }, [])

const nameIn = (list: readonly { id: string; name: string }[] | undefined) => (id: string) =>
  list?.find((one) => one.id === id)?.name ?? id

export const namesOf = (referred: Referred | null): Names => ({
  device: (id) => {
    const name = deviceName(id)
    return name === null ? text.names.deletedDevice : (name ?? id)
  },
  group: nameIn(referred?.groups),
  zone: nameIn(referred?.zones),
})

export const sentenceOf = (rule: Rule, referred: Referred | null): string =>
  describeRule(rule, namesOf(referred))
