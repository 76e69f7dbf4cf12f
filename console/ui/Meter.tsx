interface MeterProps {
  label: string
  used: number
  of: number
}

/** How much of a limit is used. */
export const Meter = ({ label, used, of }: MeterProps) => {
  const share = of > 0 ? Math.min(100, (used / of) * 100) : 100
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers do not let a <meter> be styled.
    <div
      class="bar-track"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={Math.min(used, of)}
    >
      <div
        class={`bar-fill ${share >= 100 ? 'full' : share >= 80 ? 'near' : ''}`}
        style={{ width: `${share}%` }}
      />
    </div>
  )
}

interface BarProps {
  label: string
  value: number
  max: number
  /** The figures in words, shown beside the label. */
  figures: string
}

/** A share of a limit, with its figures. */
export const Bar = ({ label, value, max, figures }: BarProps) => (
  <div class="bar">
    <p class="bar-label">
      <span>{label}</span>
      <span class="number">{figures}</span>
    </p>
    <Meter label={label} used={value} of={max} />
  </div>
)
