export interface Reservation {
  granted: number
  suppressed: number
  /** Nothing more goes out on this day, unless the limit is raised. */
  reached: boolean
}

/** As many of the wanted messages as the day's limit still allows. A limit that was lowered below what is used grants nothing. */
export const reserve = (limit: number, used: number, wanted: number): Reservation => {
  const granted = Math.max(0, Math.min(wanted, limit - used))
  return { granted, suppressed: wanted - granted, reached: wanted > 0 && used + granted >= limit }
}
