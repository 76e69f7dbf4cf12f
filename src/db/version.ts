/** The newest migration of D1, which this code needs. A test compares it with `migrations/`. */
export const SCHEMA_VERSION = '0023_clients_and_agents'
