import { plural } from './plural.ts'

/* The texts of the alarm in an open tab, which is loaded after the first page. */

export const alarmText = {
  inTitle: (count: number) => `⚠ ${plural(count, 'emergency', 'emergencies')}`,
  mute: 'Turn the sound off',
  unmute: 'Turn the sound on',
  blocked: 'The browser blocks the sound. Click anywhere on the page to hear it.',
}
