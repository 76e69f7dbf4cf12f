import { Hono } from 'hono'
import { SHARE_PATH } from '../domain/share/share.ts'
import { publicOrigin } from '../env.ts'
import { serveViewer } from '../http/admission/loadShedding.ts'
import { countShareView } from '../http/admission/rateLimit.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { PAGE_HEADERS } from '../links/present.ts'
import {
  presentLocked,
  presentNoShare,
  presentShared,
  toGeoJson,
  toKml,
  toNetworkLink,
} from './formats.ts'
import {
  checkPassword,
  countView,
  type FoundShare,
  findShare,
  formatOnce,
  type OpenShare,
  openShare,
} from './open.ts'

const replyNotFound = (c: Context) => c.html(presentNoShare(), 404, PAGE_HEADERS)

const ASKS_PASSWORD = {
  ...PAGE_HEADERS,
  'WWW-Authenticate': 'Basic realm="Share", charset="UTF-8"',
}

const KML_TYPE = 'application/vnd.google-earth.kml+xml; charset=utf-8'

interface Format {
  type: string
  /** How many views of the share a request counts as. */
  views: 0 | 1
  present: (opened: OpenShare, address: string) => string
}

const FORMATS = {
  page: {
    type: 'text/html; charset=utf-8',
    views: 1,
    present: ({ share, view }, address) => presentShared(share, view, { address, now: Date.now() }),
  },
  geojson: {
    type: 'application/geo+json',
    views: 0,
    present: ({ share, view }) => toGeoJson(share, view),
  },
  kml: { type: KML_TYPE, views: 0, present: ({ share, view }) => toKml(share, view) },
  link: {
    type: KML_TYPE,
    views: 1,
    present: ({ share }, address) => toNetworkLink(share, address),
  },
} satisfies Record<string, Format>

/** Replies with a share that the viewer may see. */
const replyShare = async (c: Context, format: keyof typeof FORMATS) => {
  await countShareView(c, Date.now())
  const found = await findShare(c, c.req.param('secret') ?? '')
  if (!found) return replyNotFound(c)
  // Before there is a slot: guesses wait for a turn of their network, and hold up no viewers.
  const password = await checkPassword(c, found)
  if (password === 'wrong')
    return c.html(presentLocked('Enter the password of the share.'), 401, ASKS_PASSWORD)
  if (password !== 'right') {
    const seconds = Math.max(1, Math.ceil((password.waitUntil - Date.now()) / 1000))
    const headers = { ...PAGE_HEADERS, 'Retry-After': String(seconds) }
    return c.html(presentLocked('There were too many attempts. Try again later.'), 429, headers)
  }
  return serveViewer(c, found.share.accountId, () => replyFound(c, found, format))
}

const replyFound = async (c: Context, found: FoundShare, format: keyof typeof FORMATS) => {
  const { type, views, present } = FORMATS[format]
  const opened = await openShare(c, found)
  if (c.req.method === 'GET') countView(c, opened, views)
  const origin = publicOrigin(c.env) ?? new URL(c.req.url).origin
  const text = formatOnce(opened, `${format} ${origin}`, () =>
    present(opened, `${origin}${SHARE_PATH}${c.req.param('secret')}`),
  )
  return c.body(text, 200, { ...PAGE_HEADERS, 'Content-Type': type })
}

/** What anybody sees who has the address of a share. */
export const shareLinks = new Hono<AppEnv>()
  .get(SHARE_PATH, replyNotFound)
  .get(`${SHARE_PATH}:secret`, (c) => replyShare(c, 'page'))
  .get(`${SHARE_PATH}:secret/locations.geojson`, (c) => replyShare(c, 'geojson'))
  .get(`${SHARE_PATH}:secret/locations.kml`, (c) => replyShare(c, 'kml'))
  .get(`${SHARE_PATH}:secret/link.kml`, (c) => replyShare(c, 'link'))
