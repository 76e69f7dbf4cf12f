/** The newest migration of D1, which this code needs. A test compares it with `migrations/`. */
export const SCHEMA_VERSION = '0022_run_for_customers'
