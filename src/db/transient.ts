/** An error with the two flags that the platform sets on errors of Durable Objects. */
interface PlatformError extends Error {
  retryable?: boolean
  overloaded?: boolean
}

/** The messages of an error and of what caused it: Drizzle wraps the errors of D1. */
const textOf = (error: Error): string =>
  error.cause instanceof Error ? `${error.message} ${textOf(error.cause)}` : error.message

const OUR_FAULT = /SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE)|syntax error|no such (table|column)/
const PLATFORM_FAULT = /D1_ERROR|Network connection lost|overloaded|reset|timed? ?out/i

/** The platform failed, not our code: the same request may succeed later. */
export const isTransient = (error: Error): boolean => {
  const { retryable, overloaded } = error as PlatformError
  const text = textOf(error)
  return (
    !OUR_FAULT.test(text) &&
    (retryable === true || overloaded === true || PLATFORM_FAULT.test(text))
  )
}
