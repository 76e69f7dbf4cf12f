import { text } from '../../../text/text.ts'
import type { DeviceState } from './deviceState.ts'

/** The device's colour on the map, with its meaning in words. */
export const StateDot = ({ state }: { state: DeviceState }) => (
  <span class={`dot ${state}`} title={text.deviceStates[state]}>
    <span class="visually-hidden">{text.deviceStates[state]}</span>
  </span>
)
