/* Line icons on a grid of 24. */

const PATHS = {
  map: 'M9 4 3 6.5v13.5l6-2.5 6 2.5 6-2.5V4l-6 2.5L9 4Zm0 0v13.5M15 6.5V20',
  device:
    'M7 3h10a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2Zm5 14.5h.01M9 6.5h6',
  alert: 'M12 3a6 6 0 0 0-6 6c0 6-2.5 7-2.5 7h17S18 15 18 9a6 6 0 0 0-6-6Zm-2 17a2.2 2.2 0 0 0 4 0',
  license: 'M4 6h16v12H4zM8 10h5M8 14h3M17 14.5v-5',
  group: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8.5a7.5 7.5 0 0 1 15 0',
  message: 'M4 5h16v11H9l-5 4V5Zm4 4h8M8 12.5h5',
  source: 'M12 21v-9M8 21h8M8.5 8.5a5 5 0 0 1 7 0M5.5 5.5a9.2 9.2 0 0 1 13 0M12 12h.01',
  webhook:
    'M9.5 8.5a3.5 3.5 0 1 1 4.6 3.3l2.4 4.2M12 8.5 8.6 15M6.5 14a3.5 3.5 0 1 0 3.3 4.5h5.7M18 15.5a3 3 0 1 1-2.5 4.6',
  event: 'M4 6h.01M8 6h12M4 12h.01M8 12h12M4 18h.01M8 18h12',
  settings:
    'M12 15.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4Zm7.4-3.2c0 .5 0 1-.1 1.4l2 1.6-2 3.4-2.4-1a7.5 7.5 0 0 1-2.4 1.4L14.1 21H9.9l-.4-2.5a7.5 7.5 0 0 1-2.4-1.4l-2.4 1-2-3.4 2-1.6a8 8 0 0 1 0-2.8l-2-1.6 2-3.4 2.4 1a7.5 7.5 0 0 1 2.4-1.4L9.9 3h4.2l.4 2.5a7.5 7.5 0 0 1 2.4 1.4l2.4-1 2 3.4-2 1.6c.1.4.1.9.1 1.1Z',
  key: 'M14.5 9.5a5 5 0 1 1-3-4.6 5 5 0 0 1 3 4.6Zm0 .5H21v4h-3v-2h-3.8',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7L20 20',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'M5 12.5 10 17 19 7',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  chevron: 'M9 6l6 6-6 6',
  back: 'M15 6l-6 6 6 6',
  down: 'M6 9l6 6 6-6',
  menu: 'M4 7h16M4 12h16M4 17h16',
  warning: 'M12 4 2.8 20h18.4L12 4Zm0 6v4.5M12 17.5h.01',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-9.5V16M12 8h.01',
  edit: 'M4 20h4L19 9l-4-4L4 16v4Zm9-13 4 4',
  trash: 'M5 7h14M10 4h4M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5',
  arrow: 'M4 12h16M14 6l6 6-6 6',
  refresh: 'M20 6v5h-5M4 18v-5h5M6 9a7 7 0 0 1 12-2l2 4M18 15a7 7 0 0 1-12 2l-2-4',
  play: 'M7 4.5v15l12-7.5-12-7.5Z',
  pause: 'M8 5v14M16 5v14',
  download: 'M12 4v11m-4.5-4L12 15.5 16.5 11M4 20h16',
  battery: 'M3 8h15v8H3zM18 11h3v2h-3M6 10.5v3',
  speed: 'M4 18a9 9 0 1 1 16 0M12 14l4-5',
  height: 'M3 19h18L14 6l-4 7-2.5-3L3 19Z',
  compass: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm3.5-12.5-2 5-5 2 2-5 5-2Z',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-14v5l3.5 2',
  pin: 'M12 21s7-6.2 7-11.5A7 7 0 0 0 5 9.5C5 14.8 12 21 12 21Zm0-8.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  track:
    'M5 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm14-10a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM7 17h8a3.5 3.5 0 0 0 0-7H9a3 3 0 0 1 0-6h8',
  zone: 'M12 3.5 20 9l-2.5 9.5h-11L4 9l8-5.5ZM12 10.5v4M10 12.5h4',
  rule: 'M4 6h9M4 12h5M4 18h9M16 4v16m0-16 4 3-4 3',
  upload: 'M12 16V5m-4.5 4L12 4.5 16.5 9M4 20h16',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-13v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4',
  out: 'M14 4h6v16h-6M10 8l-4 4 4 4M6 12h9',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Zm9.5 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  list: 'M4 6h16M4 12h16M4 18h10',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  book: 'M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3V4Zm0 13a3 3 0 0 1 3-3h11',
} as const

export type IconName = keyof typeof PATHS

/** Decoration only: the text beside it, or the label of its button, carries the meaning. */
export const Icon = ({ name, size = 18 }: { name: IconName; size?: number }) => (
  <svg
    class="icon"
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.7"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={PATHS[name]} />
  </svg>
)

export const Logo = ({ size = 28 }: { size?: number }) => (
  <img src="/favicon.svg" width={size} height={size} alt="" />
)
