/*
 * What a request counts in the rate limit, beside the one that every request counts. Many locations
 * occupy the only writer of a cell, a large body the memory of an isolate, and costly work its CPU.
 */

const LOCATIONS_PER_REQUEST = 100
const BODY_BYTES_PER_REQUEST = 65_536

/** As how many further requests a report of this many locations counts. */
export const extraCostOfLocations = (locations: number): number =>
  Math.max(0, Math.ceil(locations / LOCATIONS_PER_REQUEST) - 1)

/** As how many further requests a body of this size counts. */
export const extraCostOfBody = (bytes: number): number => Math.floor(bytes / BODY_BYTES_PER_REQUEST)

/** The milliseconds of CPU that one request stands for. */
export const REQUEST_MS = 10

/** As how many requests costly work of so many milliseconds counts. */
export const extraCostOfWork = (workMs: number): number => Math.ceil(workMs / REQUEST_MS)

/* What costly work takes, about, in milliseconds of CPU with that of the database. */

/** PBKDF2 with 100,000 iterations. */
export const PASSWORD_MS = 40
/** Parsing a body, checking and storing what is in it. */
export const workOfBody = (bytes: number): number => bytes / 1311
/** Decoding a provider's payload, XML at worst, and storing what it becomes. */
export const workOfPayload = (bytes: number): number => bytes / 2048
/** Reading locations, and writing them or looking for trips in them. */
export const workOfLocations = (locations: number): number => locations / 100
/** Reading the first page of a span, before anyone knows how many locations it has. */
export const FIRST_PAGE_MS = workOfLocations(1000)
/** Evaluating rules, in the units of slices: about microseconds. */
export const workOfUnits = (units: number): number => units / 1000
