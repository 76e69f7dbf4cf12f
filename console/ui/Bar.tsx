interface BarProps {
  label: string
  value: number
  max: number
  /** The figures in words, shown beside the label. */
  figures: string
}

const NEAR = 0.8

/** A share of a limit. */
export const Bar = ({ label, value, max, figures }: BarProps) => {
  const share = max > 0 ? Math.min(1, value / max) : 1
  const kind = share >= 1 ? 'full' : share >= NEAR ? 'near' : ''
  return (
    <div class="bar">
      <p class="bar-label">
        <span>{label}</span>
        <span class="number">{figures}</span>
      </p>
      <div class="bar-track" aria-hidden="true">
        <div class={`bar-fill ${kind}`} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}
