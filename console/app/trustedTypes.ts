/*
 * The Content-Security-Policy refuses text wherever a browser would run it as a script or parse it as
 * HTML. The exceptions are the map's worker and the service worker, scripts of our own.
 */

interface PolicyFactory {
  createPolicy: (name: string, rules: { createScriptURL: (url: string) => string }) => unknown
}

const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes

factory?.createPolicy('default', {
  createScriptURL: (text) => {
    const url = new URL(text, location.href)
    if (url.origin === location.origin && /^\/(console\/|sw\.js$)/.test(url.pathname))
      return url.href
    throw new TypeError(`${url.origin} is not a source of scripts.`)
  },
})
