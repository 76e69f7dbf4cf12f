// For Node, Deno and Bun.
import process from 'node:process'
import * as client from '@perigee/client'
import { use } from './use.mjs'

await use({ client, ...JSON.parse(process.env.SETTINGS) })
console.log('passed')
