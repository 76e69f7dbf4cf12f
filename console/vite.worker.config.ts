import { join } from 'node:path'
import { defineConfig } from 'vite'

/** The service worker, at the root so that it serves all pages, in one file for every browser. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  build: {
    target: 'es2023',
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: join(import.meta.dirname, 'worker/sw.ts'),
      output: { format: 'iife', entryFileNames: 'sw.js' },
    },
  },
})
