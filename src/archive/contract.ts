import * as z from 'zod'
import { common, reply, userName } from '../admin/contract.ts'
import { FORMAT, VERSION } from '../domain/archive/archive.ts'
import { define } from '../http/contract/contract.ts'
import { done, instantInUrl, success } from '../http/contract/wire.ts'
import { isInOrder, OUT_OF_ORDER } from '../http/paging/rangeQuery.ts'
import { apiKey } from '../keys/contract.ts'

const ARCHIVE_TYPE = 'application/gzip'
const ARCHIVE = `A tar file, compressed with gzip: \`account.json\` (format \`${FORMAT}\`, version ${VERSION}), the rows of the account as lines of JSON, tracks and zones as GeoJSON, and at the end \`manifest.json\` with the SHA-256 of every file.`

const download = {
  reply: done,
  download: true,
  formats: { [ARCHIVE_TYPE]: ARCHIVE },
} as const

const span = z
  .strictObject({
    from: instantInUrl.optional().meta({
      description: 'Only locations from this time on. Everything else is complete.',
    }),
    to: instantInUrl.optional().meta({ description: 'Only locations up to this time.' }),
  })
  .refine(isInOrder, OUT_OF_ORDER)

const CONTENT =
  'Devices, groups, users, zones, rules, watches, sources, webhooks, tracks, alerts, messages, commands, events, the audit, the license log and the settings of the account, as one file. It has no passwords, keys, sessions, links, secrets of sources and webhooks, and no deleted devices. The same account gives the same bytes. An archive without `manifest.json` is not complete: export it again. It has at most 2,000,000 locations, and 12 months of those that have moved to the bucket; beyond, `from` and `to` make several archives, which `npm run import` imports together.'

export const exportAccount = define({
  id: 'exportAccount',
  tag: 'Account',
  summary: 'Export the whole account',
  description: CONTENT,
  scope: 'admin',
  wholeAccount: true,
  purpose: 'read',
  query: span,
  problems: ['span-too-large'],
  ...download,
})

export const exportOperatedAccount = define({
  id: 'exportOperatedAccount',
  ...common,
  summary: 'Export an account',
  description: CONTENT,
  query: span,
  problems: ['account-not-found', 'span-too-large'],
  ...download,
})

export const importAccount = define({
  id: 'importAccount',
  ...common,
  summary: 'Import an account',
  description:
    'Opens the account of an export with everything that the archive has, under the same ids. It exists once all of it is stored and every checksum is right; otherwise nothing stays. The reply has a new first API key with the scope `admin`. Users set new passwords, sources get new addresses (`POST …/rotate`), webhooks new secrets, and nothing is sent by the import. A large archive is sent in several requests: each but the last with `more=true`, whole files of the archive in their order, as a tar file compressed with gzip; from the second on with the `session` of the first reply. A request that failed with 5xx can be sent again. After five minutes without a request, or when a file is not valid, all of it is erased.',
  query: z.strictObject({
    userName: userName.optional().meta({
      description: 'Another user name than that of the archive.',
      example: 'demo-2',
    }),
    cell: z.coerce
      .number('must be a whole number')
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(9999, 'must be at most 9999')
      .optional()
      .meta({ description: 'The database to use; by default the smallest.', example: 0 }),
    session: z
      .string()
      .max(100, 'must have at most 100 characters')
      .optional()
      .meta({ description: 'Continues the import that an earlier reply named.' }),
    more: z
      .enum(['true', 'false'], 'must be true or false')
      .default('false')
      .meta({ description: 'Whether further files follow in another request.' }),
  }),
  upload: { type: ARCHIVE_TYPE, description: ARCHIVE },
  status: 201,
  etag: true,
  reply: reply.extend({ apiKey }),
  alternateReply: {
    status: 200,
    reply: z
      .object({
        success,
        session: z.string().meta({ description: 'To be sent with the next request.' }),
        files: z.int().meta({ description: 'How many files are stored.', example: 12 }),
      })
      .meta({ id: 'ImportProgress', description: 'An import that further files follow.' }),
  },
  problems: [
    'invalid-archive',
    'invalid-request',
    'import-not-found',
    'account-exists',
    'user-name-taken',
    'cells-full',
    'body-too-large',
    'unsupported-media-type',
  ],
})
