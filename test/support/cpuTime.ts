/** CPU time of `work` on its thread: unlike the clock's, it is the same on a busy machine. */
export const cpuTimeMs = (work: () => void): number => {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
