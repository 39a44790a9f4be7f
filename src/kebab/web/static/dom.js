// Elements without a framework: h("p", {class: "x"}, "text", child).

const SVG = "http://www.w3.org/2000/svg"
const DRAWN = new Set(["svg", "g", "path", "rect", "circle", "line", "text", "polyline", "polygon", "title"])

export function h(name, attributes = {}, ...children) {
  const element = DRAWN.has(name) ? document.createElementNS(SVG, name) : document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true ? "" : value)
  }
  element.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false))
  return element
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false))
  return element
}

/** The heading that a snippet begins with, where more follows: it is shown above. */
export function headingOf(text, marks) {
  const found = /^(?:#{1,6} [^\n]*\n+)+/.exec(text)
  if (!found || found[0].length === text.length) return { text: "", marks: [] }
  const whole = [...found[0].trimEnd()].length
  const title = found[0].trimEnd().split("\n").pop().replace(/^#+ /, "")
  const offset = whole - [...title].length
  const inside = marks.filter(([start, end]) => start >= offset && end <= whole)
  return { text: title, marks: inside.map(([start, end]) => [start - offset, end - offset]) }
}

/** A text with the ranges of its marks, counted in code points as the server counts them. */
export function marked(text, marks) {
  const points = [...text]
  const parts = []
  let at = 0
  for (const [start, end] of marks) {
    if (start > at) parts.push(points.slice(at, start).join(""))
    parts.push(h("mark", {}, points.slice(start, end).join("")))
    at = end
  }
  parts.push(points.slice(at).join(""))
  return parts
}

export const say = text => { document.getElementById("status").textContent = text }

/** A day for people; the whole time stands in the title. */
export function day(moment) {
  if (!moment) return null
  // A day alone would be read as midnight in Greenwich, which is the day before in America.
  const date = new Date(moment.length === 10 ? `${moment}T00:00` : moment)
  const shown = isNaN(date) ? moment : date.toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" })
  return h("time", { datetime: moment, title: moment }, shown)
}

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString()} ${number === 1 ? one : many}`

export function bytes(number) {
  const units = ["B", "KB", "MB", "GB", "TB"]
  let unit = 0
  while (number >= 1000 && unit < units.length - 1) { number /= 1000; unit += 1 }
  return `${number < 10 && unit ? number.toFixed(1) : Math.round(number)} ${units[unit]}`
}

/** An error of the interface, with what to do about it. */
export function failure(error) {
  if (error.name === "AbortError") return null
  return h("div", { class: "notice bad", role: "alert" },
    h("p", {}, error.message), error.hint && h("p", { class: "quiet small" }, error.hint))
}

/** The address of a note, at lines of it, or at the chunk or the citation where its file has no lines. */
export const docLink = (reference, { lines, chunk, cite, query } = {}) => {
  const parameters = new URLSearchParams({ ref: reference })
  if (lines) parameters.set("lines", lines)
  else if (chunk) parameters.set("chunk", chunk)
  else if (cite) parameters.set("cite", cite)
  if (query) parameters.set("q", query)
  return `/doc?${parameters}`
}
