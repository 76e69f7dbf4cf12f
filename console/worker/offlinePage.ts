import { workerText as text } from '../text/worker.ts'

const RETRY_MS = 5000

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { display: grid; min-height: 100dvh; margin: 0; place-items: center; text-align: center;
  background: light-dark(#fff, #0b1020); color: light-dark(#17235a, #e8ecff) }
main { max-width: 26rem; padding: 1.5rem }
h1 { font-size: 1.4rem }
a { display: inline-block; padding: .7rem 1.3rem; border: 1px solid; border-radius: .6rem;
  color: inherit; text-decoration: none }`

/** Loads the page as soon as the service answers, as the browser's own page would. */
const SCRIPT = `setInterval(() => fetch('/healthz', { cache: 'no-store' })
  .then(({ ok }) => ok && location.reload(), () => {}), ${RETRY_MS})`

/** Shown when a page cannot be loaded. It is part of the worker, so nothing is cached. */
export const offlinePage = (): Response => {
  const nonce = crypto.randomUUID()
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text.offlineTitle} · ${text.brand}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<h1>${text.offlineTitle}</h1>
<p role="status">${text.offline}</p>
<p><a href="">${text.tryAgain}</a></p>
</main>
<script nonce="${nonce}">${SCRIPT}</script>
</body>
</html>
`
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  return new Response(html, {
    status: 503,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    },
  })
}
