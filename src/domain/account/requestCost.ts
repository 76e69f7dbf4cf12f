/*
 * What a request counts in the rate limit, beside the one that every request counts. Many locations
 * occupy the only writer of a cell, and a large body the memory of an isolate.
 */

const LOCATIONS_PER_REQUEST = 100
const BODY_BYTES_PER_REQUEST = 65_536

/** As how many further requests a report of this many locations counts. */
export const extraCostOfLocations = (locations: number): number =>
  Math.max(0, Math.ceil(locations / LOCATIONS_PER_REQUEST) - 1)

/** As how many further requests a body of this size counts. */
export const extraCostOfBody = (bytes: number): number => Math.floor(bytes / BODY_BYTES_PER_REQUEST)
