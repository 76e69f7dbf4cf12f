import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { byId, type Page, toPage } from '../db/page.ts'
import {
  type Creation,
  createOwned,
  type Deletion,
  deleteOwned,
  type Edit,
  ownedRows,
  refuse,
  updateOwned,
} from '../db/queries/owned.ts'
import { type Reference, refuseUnknown } from '../db/queries/references.ts'
import { isInGroup, type Viewer } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { devices, groups, shares } from '../db/schema.ts'
import { readAll, readFirst, statement } from '../db/statement.ts'
import { MAX_SHARES, type Share, type ShareRecord } from '../domain/share/share.ts'

const COLUMNS = {
  id: shares.id,
  record: shares.record,
  hasPassword: sql<boolean>`${shares.password} IS NOT NULL`.mapWith(Boolean),
  views: shares.views,
  lastViewed: shares.lastViewed,
  creation: shares.creation,
  lastModified: shares.lastModified,
  version: shares.version,
}

const selectShares = (rest: SQL) =>
  select(COLUMNS, sql`FROM ${shares} ${rest}`).map(
    ({ record, ...row }): Share => ({ ...row, ...record }),
  )

const ownShares = ownedRows('share', shares, selectShares)

/** Confined users see the shares of their group. */
const isSeen = (groupId: string | null): SQL =>
  groupId === null ? sql`true` : sql`${shares.groupId} = ${groupId}`

export const findVisibleShare = (
  db: Database,
  { accountId, groupId }: Viewer,
  id: string,
): Promise<Share | null> =>
  readFirst(
    statement(
      db,
      selectShares(sql`WHERE ${ownShares.isOwn(accountId, id)} AND ${isSeen(groupId)}`),
    ),
  )

export const listShares = async (
  db: Database,
  { accountId, groupId }: Viewer,
  after: string,
  limit: number,
): Promise<Page<Share>> => {
  const rows = selectShares(sql`WHERE ${shares.accountId} = ${accountId} AND ${shares.id} > ${after}
    AND ${isSeen(groupId)} ORDER BY ${shares.id} LIMIT ${limit + 1}`)
  return toPage(await readAll(statement(db, rows)), limit, byId)
}

const referencesOf = (record: ShareRecord, before?: ShareRecord): Reference[] => [
  {
    table: devices,
    what: 'device',
    pointer: '/devices',
    ids: record.devices,
    before: before?.devices,
  },
  { table: groups, what: 'group', pointer: '/groups', ids: record.groups, before: before?.groups },
]

/**
 * The refusal of what is outside the group of a share, the same as of what does not exist. It need
 * not be atomic: the devices of the group alone are shown, whatever the record names.
 */
const refuseUnseen = async (
  db: Database,
  groupId: string | null,
  record: ShareRecord,
  before?: ShareRecord,
) => {
  if (groupId === null) return null
  const seen = await readAll(
    statement(
      db,
      select(
        { id: devices.id },
        sql`FROM json_each(${JSON.stringify(record.devices)}) listed
          CROSS JOIN ${devices} ON ${devices.id} = listed.value
          WHERE ${isInGroup(devices.key, groupId)}`,
      ),
    ),
  )
  // What it names already may have left the group since.
  const ids = new Set([...seen.map(({ id }) => id), ...(before?.devices ?? [])])
  const errors = [
    ...record.devices.flatMap((id, index) =>
      ids.has(id)
        ? []
        : [{ pointer: `/devices/${index}`, detail: 'is not a device of this account' }],
    ),
    ...record.groups.flatMap((id, index) =>
      id === groupId || before?.groups.includes(id)
        ? []
        : [{ pointer: `/groups/${index}`, detail: 'is not a group of this account' }],
    ),
  ]
  return errors.length > 0 ? refuseUnknown({ results: errors }, refuse('invalid-request')) : null
}

interface Secrets {
  /** The hash of a new password; null for none, or to keep the one it has. */
  password: string | null
}

/** What the audit compares: a password only shows that it was set. */
const auditedOf = (record: ShareRecord, isPasswordChanged: boolean): object =>
  isPasswordChanged ? { ...record, password: '' } : record

/** A retry after a crash has the same id and a new secret, which then is the valid one. */
export const createShare = async (
  db: Database,
  creation: Creation<ShareRecord>,
  { hash, password, groupId }: Secrets & { hash: string; groupId: string | null },
) => {
  const { accountId, id, record, now } = creation
  const unseen = await refuseUnseen(db, groupId, record)
  if (unseen) return unseen
  return createOwned(
    db,
    ownShares,
    { ...creation, record: auditedOf(record, password !== null) },
    {
      set: { record, hash, password, groupId, creation: now, lastModified: now },
      references: referencesOf(record),
      condition: sql`(SELECT count(*) FROM ${shares} WHERE ${shares.accountId} = ${accountId}
        AND ${shares.id} <> ${id}) < ${MAX_SHARES}`,
      onConflict: sql`ON CONFLICT (id) DO UPDATE SET hash = excluded.hash`,
      otherwise: 'share-limit-reached',
    },
  )
}

const findGroupId = async (db: Database, accountId: string, id: string): Promise<string | null> => {
  const row = sql`FROM ${shares} WHERE ${ownShares.isOwn(accountId, id)}`
  const found = await readFirst(statement(db, select({ groupId: shares.groupId }, row)))
  return found?.groupId ?? null
}

/** `password`: undefined keeps the one it has, null removes it. */
export const updateShare = async (
  db: Database,
  edit: Edit<Share, ShareRecord>,
  password: string | null | undefined,
) => {
  const { accountId, before, record, now } = edit
  // The share's own, also for an unconfined editor: users of the group see what the share names.
  const groupId = await findGroupId(db, accountId, before.id)
  const unseen = await refuseUnseen(db, groupId, record, before)
  if (unseen) return unseen
  return updateOwned(
    db,
    ownShares,
    { ...edit, record: auditedOf(record, password !== undefined) },
    {
      set: { record, ...(password !== undefined && { password }), lastModified: now },
      references: referencesOf(record, before),
      otherwise: 'precondition-failed',
    },
  )
}

export const deleteShare = async (db: Database, deletion: Deletion, viewer: Viewer) => {
  const found = await findVisibleShare(db, viewer, deletion.id)
  return found ? deleteOwned(db, ownShares, deletion) : refuse('share-not-found')
}
