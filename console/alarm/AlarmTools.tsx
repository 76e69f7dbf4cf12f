import { alarmText } from '../text/alarm.ts'
import { Icon } from '../ui/Icon.tsx'
import { isBlocked, isSoundOn, setSound } from './sound.ts'
import './alarm.css'

/** Below the emergencies: the sound, off and on again. */
export const AlarmTools = () => (
  <div class="emergency-tools">
    <button type="button" class="button small" onClick={() => setSound(!isSoundOn.value)}>
      <Icon name="alert" size={16} />
      <span>{isSoundOn.value ? alarmText.mute : alarmText.unmute}</span>
    </button>
    {isBlocked.value && <span role="alert">{alarmText.blocked}</span>}
  </div>
)
