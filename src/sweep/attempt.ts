/** One that fails does not keep the others from running: the next minute tries it again. */
export const attempt = async (part: string, of: { cell?: number; account?: string }, work: () => Promise<unknown>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    console.error(JSON.stringify({ level: 'error', event: 'sweep-failed', part, ...of, error: (error as Error).name }))
  }
}
