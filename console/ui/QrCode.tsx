import { useEffect, useState } from 'preact/hooks'

interface Drawn {
  size: number
  path: string
}

/** Without an encoder, which is loaded with the first code, there is none. */
const draw = async (value: string): Promise<Drawn> => {
  const { encode } = await import('uqr')
  const { size, data } = encode(value, { ecc: 'M', border: 4 })
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')
  return { size, path }
}

/** A text for the camera of a phone. */
export const QrCode = ({ value, label }: { value: string; label: string }) => {
  const [drawn, setDrawn] = useState<Drawn | null>(null)
  useEffect(() => {
    let isCurrent = true
    const show = (next: Drawn | null) => isCurrent && setDrawn(next)
    draw(value).then(show, () => show(null))
    return () => {
      isCurrent = false
    }
  }, [value])
  if (!drawn) return null
  return (
    <svg
      class="qr-code"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${drawn.size} ${drawn.size}`}
      shape-rendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={drawn.path} fill="#000" />
    </svg>
  )
}
