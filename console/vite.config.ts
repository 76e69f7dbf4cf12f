import { defineConfig } from 'vite'
import { baseMapPlugin } from './build/baseMapPlugin.ts'

/** The style or the tiles of an operator's own base map, and whom to credit; empty for ours. */
const { MAP_URL = '', MAP_ATTRIBUTION = '' } = process.env

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  base: '/',
  plugins: [baseMapPlugin()],
  define: {
    MAP_URL: JSON.stringify(MAP_URL),
    MAP_ATTRIBUTION: JSON.stringify(MAP_ATTRIBUTION),
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    assetsDir: 'console',
    // Inline scripts and `data:` URLs of scripts are forbidden by the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
  },
})
