import { fold } from '../domain/text/fold.ts'
import { resourceRoutes } from '../http/resource/routes.ts'
import * as contract from './contract.ts'
import { createGroup, deleteGroup, updateGroup } from './edit.ts'
import { presentGroup } from './present.ts'
import { findVisibleGroup, listGroups } from './store.ts'

export const groups = resourceRoutes(contract.groups, {
  prefix: 'grp',
  find: (c, id) => findVisibleGroup(c.get('db'), c.get('principal'), id),
  list: (c, after, { limit, q }) =>
    listGroups(c.get('db'), c.get('principal'), { after, q: q && fold(q), limit }),
  present: presentGroup,
  create: createGroup,
  update: updateGroup,
  remove: deleteGroup,
})
