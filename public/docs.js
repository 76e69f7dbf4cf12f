// Sets up Scalar's bundle so that the page speaks to this origin alone, and fills in the bearer token after a sign-in.

const $ = (selector) => document.querySelector(selector)

const api = await fetch('/api/openapi.json')
  .then((reply) => (reply.ok ? reply.json() : undefined))
  .catch(() => undefined)

const configuration = {
  content: api && leaveOptionalParametersOut(api),
  servers: [{ url: location.origin }],

  // Off: whatever would load from, send to or lead to another host.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',

  persistAuth: false,
  documentDownloadType: 'none',
  modelsSectionLabel: 'Schemas',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  localization: {
    translations: {
      clientLibraries: { heading: 'Code samples' },
      operation: { testRequest: 'Try it' },
    },
  },
  setPageTitle: ({ title }) => `${title} · Perigee API`,
  onLoaded: () => $('#status')?.remove(),
}

if (api && window.Scalar) {
  let reference = window.Scalar.createApiReference('#reference', configuration)
  const scheme = Object.keys(api.security?.[0] ?? api.components.securitySchemes)[0]
  offerSignIn((token) => {
    // Made anew, since a token that was typed into the page would outlive `updateConfiguration`.
    reference.destroy()
    const authentication = {
      preferredSecurityScheme: scheme,
      securitySchemes: { [scheme]: { token } },
    }
    reference = window.Scalar.createApiReference('#reference', { ...configuration, authentication })
  })
} else {
  $('#status').textContent = 'The reference could not be loaded. Reload the page to try again.'
}

/** Scalar would send each optional parameter that has a default, an enum or an example; an empty `example` leaves it to the reader. */
function leaveOptionalParametersOut(openapi) {
  const at = (pointer) =>
    pointer
      .slice(2)
      .split('/')
      .reduce((node, key) => node[key], openapi)
  const resolve = (node) => (node.$ref ? at(node.$ref) : node)
  const leaveOut = (reference) => {
    const { example, examples, schema, ...parameter } = resolve(reference)
    if (parameter.required || !schema) return reference
    const shown = [example, ...Object.values(examples ?? {}).map((one) => one.value)].filter(
      (value) => value !== undefined,
    )
    return { ...parameter, example: '', schema: { examples: shown, ...resolve(schema) } }
  }
  for (const path of Object.values(openapi.paths)) {
    for (const owner of [path, ...Object.values(path)]) {
      if (owner.parameters) owner.parameters = owner.parameters.map(leaveOut)
    }
  }
  return openapi
}

function offerSignIn(use) {
  const [button, dialog, form, refusal] = [
    '#sign-in',
    '#dialog',
    '#dialog form',
    '#dialog .refusal',
  ].map($)
  const refuse = (error) => {
    refusal.textContent = error
    refusal.hidden = !error
  }
  button.hidden = false
  button.onclick = () => dialog.showModal()
  dialog.onclose = () => {
    form.reset()
    refuse('')
  }
  form.onsubmit = async (event) => {
    if (event.submitter.value === 'cancel') return
    event.preventDefault()
    const { userName, apiKey } = Object.fromEntries(new FormData(form))
    const { token, error } = await exchange({ userName, apiKey })
    if (!token) return refuse(error)
    use(token)
    button.textContent = userName
    button.className = 'button signed-in'
    button.title = `Signed in as ${userName}`
    dialog.close()
  }
}

async function exchange(credentials) {
  try {
    const headers = { 'Content-Type': 'application/json' }
    const reply = await fetch('/api/Auth/Token', {
      method: 'POST',
      headers,
      body: JSON.stringify(credentials),
    })
    return await reply.json()
  } catch {
    return { error: 'The service did not answer.' }
  }
}
