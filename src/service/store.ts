import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { statement } from '../db/statement.ts'

/** Throws when the database does not answer. */
export const pingDatabase = async (db: Database): Promise<void> => {
  await statement(db, sql`SELECT 1`).run()
}
