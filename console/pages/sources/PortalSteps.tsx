import { later } from '../../text/later.ts'
import type { Provider } from './samples.ts'

/** Where the address is entered at the provider. */
export const PortalSteps = ({ provider }: { provider: Provider }) => {
  const { steps, identifier } = later.providers[provider]
  return (
    <div class="stack">
      <ol class="steps">
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p class="hint">
        {later.sources.identifierIs} {identifier}.
      </p>
    </div>
  )
}
