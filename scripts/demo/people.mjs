// The users of the demo account, and what happened to its devices lately.

/** The first one can sign in: `npm start` prints the e-mail address and the password. */
export const USERS = [
  {
    name: 'Marta Nogueira',
    email: 'marta@demo.example',
    country: 'PT',
    timeZone: 'Europe/Lisbon',
    privileges: ['admin'],
    phone: '+351912000001',
    notify: { email: true, sms: true },
    description: 'Fleet manager',
  },
  {
    name: 'Jon Ibarra',
    email: 'jon@demo.example',
    country: 'ES',
    timeZone: 'Europe/Madrid',
    privileges: ['read'],
    group: 'Trucks',
    description: 'Road dispatch',
  },
  {
    name: 'Aiko Tanaka',
    email: 'aiko@demo.example',
    country: 'JP',
    timeZone: 'Asia/Tokyo',
    privileges: ['read', 'write'],
    group: 'Ships',
    phone: '+819000000002',
    notify: { email: true, sms: true },
    description: 'Marine operations',
  },
  {
    name: 'Samuel Okoro',
    email: 'samuel@demo.example',
    country: 'KE',
    timeZone: 'Africa/Nairobi',
    privileges: ['read', 'write'],
    group: 'Field teams',
    phone: '+254700000003',
    notify: { email: true, sms: true },
    description: 'Safety officer, field teams',
  },
  {
    name: 'Erik Lind',
    email: 'erik@demo.example',
    country: 'NO',
    timeZone: 'Europe/Oslo',
    privileges: ['read'],
    disabled: true,
    disabledMessage: 'Left the company in spring.',
    description: 'Former dispatcher',
  },
]

/** Set where the account has these members. */
export const EMERGENCY_SETTINGS = {
  emergencyContacts: [
    { name: 'Duty desk', email: 'duty@demo.example', phone: '+351912000009' },
    { name: 'Rescue coordination', email: 'rescue@demo.example' },
  ],
  escalation: { afterMinutes: 15, rounds: 2 },
}

/** The SOS is last: once it is there, the demo is complete. `steps` are taken after raising. */
export const ALERTS = [
  {
    device: 'Truck 15',
    alertName: 'SpeedLimit',
    text: '97 km/h where 80 are allowed',
    hoursAgo: 52,
  },
  {
    device: 'Truck 15',
    alertName: 'SpeedLimit',
    text: '94 km/h where 80 are allowed',
    hoursAgo: 27,
  },
  {
    device: 'Truck 15',
    alertName: 'SpeedLimit',
    text: '101 km/h where 90 are allowed',
    hoursAgo: 3,
  },
  { device: 'Drifter 09', alertName: 'LowBattery', text: 'Battery at 19 %', hoursAgo: 40 },
  {
    device: 'Gannet',
    alertName: 'ForbiddenArea',
    text: 'Entered the closed fishing area off Cape Finisterre',
    hoursAgo: 22,
    steps: [['acknowledge']],
  },
  {
    device: 'Truck 21',
    alertName: 'Offline',
    text: 'No report for 24 hours',
    hoursAgo: 6,
  },
  {
    device: 'Tern 7',
    alertName: 'Temperature',
    text: 'Reefer 3 at −11 °C for 20 minutes',
    hoursAgo: 31,
    steps: [['acknowledge']],
  },
  {
    device: '5Y-MED',
    alertName: 'LowFuel',
    text: 'Fuel for 50 minutes',
    hoursAgo: 18,
    steps: [['acknowledge']],
  },
  {
    device: 'Khumbu survey',
    alertName: 'MissedCheckIn',
    text: 'No check-in at 16:00',
    hoursAgo: 8,
  },
  {
    device: 'Gannet',
    alertName: 'ManOverboard',
    emergency: true,
    text: 'Deckhand fell over the stern rail',
    hoursAgo: 26,
    steps: [
      ['acknowledge'],
      ['notes', { text: 'The crew has thrown a life raft and is turning back.' }],
      ['resolve', { note: 'Back on board after 14 minutes, cold but unhurt.' }],
    ],
  },
  {
    device: 'Khumbu survey',
    alertName: 'Medical',
    emergency: true,
    text: 'Altitude sickness, one person cannot walk',
    hoursAgo: 2,
    steps: [
      ['acknowledge'],
      ['notes', { text: 'Helicopter asked for; it flies when the fog lifts.' }],
    ],
  },
  {
    device: 'Field team north',
    alertName: 'SOSButton',
    text: 'Broken leg after a fall, needs evacuation',
    hoursAgo: 0.1,
  },
]
