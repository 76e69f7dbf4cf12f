import { MINUTE_MS } from '../format/time.ts'

/** The name that the reply gives the file, in any script. */
export const fileNameOf = ({ headers }: Response): string | null => {
  const [, name] = /filename\*=UTF-8''([^;]+)/.exec(headers.get('Content-Disposition') ?? '') ?? []
  return name === undefined ? null : decodeURIComponent(name)
}

/** Saves what the API answered as a file: a call needs the token and so cannot be a plain link. */
export const saveFile = async (response: Response, fallback: string): Promise<void> => {
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = fileNameOf(response) ?? fallback
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), MINUTE_MS)
}
