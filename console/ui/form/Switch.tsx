interface SwitchProps {
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
  disabled?: boolean
  /** Shown beside it. */
  children?: string
}

/** On or off, at once. */
export const Switch = ({ label, isOn, onChange, disabled = false, children }: SwitchProps) => (
  <button
    type="button"
    role="switch"
    class="switch"
    aria-checked={isOn}
    aria-label={label}
    disabled={disabled}
    onClick={() => onChange(!isOn)}
  >
    <span class="switch-track" aria-hidden="true" />
    {children}
  </button>
)
