import { MINUTE_MS } from '../format/time.ts'

/** Saves what the API answered as a file: a call needs the token and so cannot be a plain link. */
export const saveFile = async (response: Response, name: string): Promise<void> => {
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), MINUTE_MS)
}
