export interface Reservation {
  granted: number
  suppressed: number
  /** No further message goes out on this day, unless the limit is raised. */
  reached: boolean
}

/** Grants as many messages as the day's limit allows: none if it was lowered below what is used. */
export const reserve = (limit: number, used: number, wanted: number): Reservation => {
  const granted = Math.max(0, Math.min(wanted, limit - used))
  return { granted, suppressed: wanted - granted, reached: wanted > 0 && used + granted >= limit }
}
