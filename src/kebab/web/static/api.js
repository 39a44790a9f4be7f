// The HTTP interface, and the token where the server wants one.

const KEY = "kebab.token"
let token = null

// A link with #token=… is how the server hands it over; it leaves the address at once.
const given = new URLSearchParams(location.hash.slice(1)).get("token")
if (given) {
  token = given
  try { sessionStorage.setItem(KEY, given) } catch { /* then for this page only */ }
  history.replaceState(null, "", location.pathname + location.search)
} else {
  try { token = sessionStorage.getItem(KEY) } catch { /* none */ }
}

export class ApiError extends Error {
  constructor(status, body) {
    super(body.message ?? `the server answered ${status}`)
    this.status = status
    this.code = body.code
    this.hint = body.hint
  }
}

const headers = more => (token ? { ...more, authorization: `Bearer ${token}` } : more)

/** The response; null where the request is to be made again, with the token entered since it was sent with ``used``. */
async function checked(response, used) {
  if (response.ok) return response
  const body = await response.json().catch(() => ({}))
  if (response.status === 401 && (used !== token || await askForToken())) return null
  throw new ApiError(response.status, body)
}

async function request(path, options) {
  for (;;) {
    let response
    const used = token
    try {
      response = await fetch(`/api/v1${path}`, { ...options, headers: headers(options.headers ?? {}) })
    } catch (error) {
      if (error.name === "AbortError") throw error
      throw new ApiError(0, { message: "the server does not answer", hint: "is kebab serve still running?" })
    }
    const answered = await checked(response, used)
    if (answered) return answered
  }
}

export async function get(path, parameters = {}, { signal } = {}) {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(parameters))
    for (const each of [value].flat()) if (each !== null && each !== undefined && each !== "") query.append(key, each)
  const asked = query.size ? `?${query}` : ""
  return (await request(path + asked, { signal })).json()
}

export async function post(path, body = {}, { signal } = {}) {
  const response = await request(path, { method: "POST", body: JSON.stringify(body), signal })
  return response.status === 204 ? null : response.json()
}

/** Events of a stream, one after the other; ``method`` GET watches what is going on. */
export async function* stream(path, body, { signal, method = "POST" } = {}) {
  const response = await request(path, {
    method, signal, body: method === "POST" ? JSON.stringify(body) : undefined, headers: { accept: "text/event-stream" },
  })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let held = ""
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    held += value.replaceAll("\r\n", "\n")
    const events = held.split("\n\n")
    held = events.pop()
    for (const event of events) {
      const data = event.split("\n").filter(line => line.startsWith("data:")).map(line => line.slice(5).trim()).join("\n")
      if (!data) continue
      const shape = JSON.parse(data)
      if (shape.schema_version === "error.v1") throw new ApiError(0, shape)
      yield shape
    }
  }
}

let asking = null

/** Ask the person for the token; true where another try makes sense. */
function askForToken() {
  asking ??= new Promise(resolve => {
    const input = Object.assign(document.createElement("input"), { type: "password", autocomplete: "off", className: "text-input" })
    input.setAttribute("aria-label", "Token")
    const button = Object.assign(document.createElement("button"), { className: "button main", textContent: "Go on" })
    const form = Object.assign(document.createElement("form"), { method: "dialog" })
    const title = Object.assign(document.createElement("h2"), { textContent: "This server asks for its token" })
    const text = Object.assign(document.createElement("p"), { className: "quiet small", textContent: "It was shown when kebab serve first started, and lies in serve.token in the data folder." })
    form.append(title, text, input, " ", button)
    const dialog = document.createElement("dialog")
    dialog.append(form)
    document.body.append(dialog)
    dialog.addEventListener("close", () => {
      const entered = input.value.trim()
      if (entered) {
        token = entered
        try { sessionStorage.setItem(KEY, entered) } catch { /* for this page only */ }
      }
      dialog.remove()
      asking = null
      resolve(Boolean(entered))
    })
    dialog.showModal()
  })
  return asking
}
