// Starts Scalar so that it calls this origin only, and sets the bearer token after a sign-in.

const $ = (selector) => document.querySelector(selector)

const api = await fetch('/api/openapi.json')
  .then((reply) => (reply.ok ? reply.json() : undefined))
  .catch(() => undefined)

const configuration = {
  content: api && clearOptionalParameters(atThisHost(api)),

  // Off: everything that loads from, sends to or links to another host.
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
  offerSignIn(async (token) => {
    const device = await firstDevice(token)
    // Created again: `updateConfiguration` would keep a token that was typed into the page.
    reference.destroy()
    const authentication = {
      preferredSecurityScheme: scheme,
      securitySchemes: { [scheme]: { token } },
    }
    const content = device ? withDevice(configuration.content, device) : configuration.content
    reference = window.Scalar.createApiReference('#reference', {
      ...configuration,
      content,
      authentication,
    })
  })
} else {
  $('#status').textContent = 'The reference could not be loaded. Reload the page to try again.'
}

/** The document with the address of this service in place of the relative and the made-up one. */
function atThisHost(openapi) {
  const { info } = openapi
  const description = info.description.replaceAll('https://your-host', location.origin)
  return { ...openapi, info: { ...info, description }, servers: [{ url: location.origin }] }
}

/** The id of a device of the account, so that calls can be tried as they are. */
async function firstDevice(token) {
  const reply = await fetch('/api/devices?limit=1', {
    headers: { Authorization: `Bearer ${token}` },
  }).catch(() => undefined)
  // A key that may only report cannot list devices.
  return reply?.ok ? (await reply.json()).devices[0]?.id : undefined
}

function withDevice(openapi, id) {
  const { deviceId, ...others } = openapi.components.parameters
  const filled = { ...deviceId, example: id, schema: { ...deviceId.schema, examples: [id] } }
  const parameters = { ...others, deviceId: filled }
  return { ...openapi, components: { ...openapi.components, parameters } }
}

/** Scalar fills in optional parameters with a default, enum or example; an empty one stops it. */
function clearOptionalParameters(openapi) {
  const at = (pointer) =>
    pointer
      .slice(2)
      .split('/')
      .reduce((node, key) => node[key], openapi)
  const resolve = (node) => (node.$ref ? at(node.$ref) : node)
  const clear = (reference) => {
    const { example, examples, schema, ...parameter } = resolve(reference)
    if (parameter.required || !schema) return reference
    const shown = [example, ...Object.values(examples ?? {}).map((one) => one.value)].filter(
      (value) => value !== undefined,
    )
    return { ...parameter, example: '', schema: { examples: shown, ...resolve(schema) } }
  }
  for (const path of Object.values(openapi.paths)) {
    for (const owner of [path, ...Object.values(path)]) {
      if (owner.parameters) owner.parameters = owner.parameters.map(clear)
    }
  }
  return openapi
}

function offerSignIn(useToken) {
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
    const { token, error } = await fetchToken({ userName, apiKey })
    if (!token) return refuse(error)
    await useToken(token)
    button.textContent = userName
    button.className = 'button signed-in'
    button.title = `Signed in as ${userName}`
    dialog.close()
  }
}

async function fetchToken(credentials) {
  try {
    const headers = { 'Content-Type': 'application/json' }
    const reply = await fetch('/api/Auth/Token', {
      method: 'POST',
      headers,
      body: JSON.stringify(credentials),
    })
    return await reply.json()
  } catch {
    return { error: 'The service did not reply. Try again later.' }
  }
}
