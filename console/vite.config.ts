import { defineConfig } from 'vite'
import { baseMapPlugin } from './build/baseMapPlugin.ts'

/** Where tiles, glyphs and the style of an operator's own base map come from; empty for ours. */
const MAP_STYLE_URL = process.env.MAP_STYLE_URL ?? ''

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  base: '/',
  plugins: [baseMapPlugin()],
  define: { MAP_STYLE_URL: JSON.stringify(MAP_STYLE_URL) },
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
