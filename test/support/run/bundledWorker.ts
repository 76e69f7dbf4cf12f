import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { build, type Plugin } from 'vite'

const BUNDLE = 'virtual:worker-bundle'
const NO_MAP = { mappings: '' } as const
const ENTRY = 'virtual:worker-modules'

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  .map((file) => resolve('src', file))
/** Both projects use one. */
let bundle: ReturnType<typeof bundleModules> | undefined

/**
 * Serves the modules of `src/` to the tests from one bundle. Each test file has a Worker of its own,
 * which would ask Vitest's process for 700 modules, one by one. A test and the Worker share the
 * module that both import. Not for watching: the bundle is made once.
 */
export function bundledWorker(): Plugin {
  return {
    name: 'bundled-worker',
    enforce: 'pre',
    resolveId: (id) => (id === BUNDLE ? id : undefined),
    /** Traces through packages show their bundled lines: their maps are most of what is sent. */
    transform: (code, id) => (id.includes('/node_modules/') ? { code, map: NO_MAP } : undefined),
    async load(id) {
      if (id !== BUNDLE && !files.includes(id)) return
      bundle ??= bundleModules()
      const { code, map, modules } = await bundle
      if (id === BUNDLE) return { code, map }
      const exported = modules[id]?.renderedExports ?? []
      const namespace = `m${files.indexOf(id)}`
      const lines = exported.map((name) =>
        name === 'default'
          ? `export default ${namespace}.default`
          : `export const ${name} = ${namespace}.${name}`,
      )
      return { code: [`import { ${namespace} } from '${BUNDLE}'`, ...lines].join('\n'), map: null }
    },
  }
}

async function bundleModules() {
  const exportAll = files.map((file, index) => `export * as m${index} from ${JSON.stringify(file)}`)
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    plugins: [
      {
        name: 'all-modules',
        resolveId: (id) => (id === ENTRY ? id : undefined),
        load: (id) => (id === ENTRY ? exportAll.join('\n') : undefined),
      },
    ],
    build: {
      ssr: true,
      write: false,
      minify: false,
      target: 'esnext',
      sourcemap: true,
      rolldownOptions: {
        input: ENTRY,
        external: (id) => /^[a-z@]/.test(id) && id !== ENTRY,
        output: { codeSplitting: false },
        // An inlined constant is no export any more.
        optimization: { inlineConst: false },
      },
    },
  })
  if (!('output' in result)) throw new Error('The bundle of the tests was not made.')
  const { code, map, modules } = result.output[0]
  // Vitest finds the sources by their absolute names. Empty ones are not read and sent again.
  const sources = map?.sources.map((source) => resolve('dist', source)) ?? []
  const sourcesContent = sources.map(() => '')
  return { code, map: { ...map, sources, sourcesContent } as never, modules }
}
