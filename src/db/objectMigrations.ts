/** How many steps an object's own SQLite has seen. */
export const readVersion = (sql: SqlStorage): number =>
  Number(sql.exec('SELECT coalesce(max(done), 0) AS done FROM steps').one().done)

/** Runs the steps that an object's own SQLite has not seen, in order. New steps go at the end. */
export const migrate = (storage: DurableObjectStorage, steps: readonly string[]): void => {
  const { sql } = storage
  sql.exec('CREATE TABLE IF NOT EXISTS steps (done INTEGER NOT NULL) STRICT')
  const done = readVersion(sql)
  steps.slice(done).forEach((step, index) => {
    storage.transactionSync(() => {
      sql.exec(step)
      sql.exec('INSERT INTO steps (done) VALUES (?)', done + index + 1)
    })
  })
}
