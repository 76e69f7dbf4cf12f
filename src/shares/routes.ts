import { makeShareSecret, SHARE_BYTES } from '../domain/message/link.ts'
import { SHARE_PATH } from '../domain/share/share.ts'
import { hashOnce } from '../http/admission/passwordWork.ts'
import { resourceRoutes } from '../http/resource/routes.ts'
import { hashLink } from '../ids.ts'
import { refuseTemporaryAccess } from '../keys/boundKeys.ts'
import { requestContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { evictShare } from './open.ts'
import { presentShare } from './present.ts'
import { createShare, deleteShare, findVisibleShare, listShares, updateShare } from './store.ts'

export const shares = resourceRoutes(contract.shares, {
  prefix: 'shr',
  find: (c, id) => findVisibleShare(c.get('db'), c.get('principal'), id),
  list: (c, [after = ''], { limit }) =>
    listShares(c.get('db'), c.get('principal'), String(after), limit),
  present: presentShare,
  create: async (db, { record: { password, ...record }, ...creation }, c) => {
    refuseTemporaryAccess(c.get('principal'), 'A share')
    const { cell, groupId } = c.get('principal')
    const secret = makeShareSecret(cell, crypto.getRandomValues(new Uint8Array(SHARE_BYTES)))
    const secrets = {
      hash: await hashLink(secret),
      password: await hashOnce(c, password || null),
      groupId,
    }
    const created = await createShare(db, { ...creation, record }, secrets)
    if (!created.ok) return created
    return { ...created, shownOnce: { url: `${requestContext(c).origin}${SHARE_PATH}${secret}` } }
  },
  update: async (db, { record: { password, ...record }, ...edit }, c) => {
    refuseTemporaryAccess(c.get('principal'), 'A share')
    const hash = password === null ? undefined : await hashOnce(c, password || null)
    const outcome = await updateShare(db, { ...edit, record }, hash)
    evictShare(edit.before.id)
    return outcome
  },
  remove: async (db, deletion, c) => {
    const outcome = await deleteShare(db, deletion, c.get('principal'))
    evictShare(deletion.id)
    return outcome
  },
})
