import { Meter } from './Meter.tsx'

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
