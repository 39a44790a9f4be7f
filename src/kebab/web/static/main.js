// The page: which view an address shows, the keys, light and dark.

import { fill, h } from "./dom.js"

const VIEWS = {
  "/": () => import("./search.js"),
  "/doc": () => import("./doc.js"),
  "/ask": () => import("./ask.js"),
  "/sources": () => import("./sources.js"),
  "/health": () => import("./health.js"),
  "/evaluations": () => import("./evaluations.js"),
  "/memory": () => import("./memory.js"),
  "/settings": () => import("./settings.js"),
}
const NAMES = { "/": "Search", "/doc": "Note", "/ask": "Ask", "/sources": "Sources", "/health": "Health", "/evaluations": "Evaluation", "/memory": "Memory", "/settings": "Settings" }

const main = document.getElementById("main")
let shown = null
let turn = 0

/** Go to an address of this page. */
export function go(href, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", href)
  return draw()
}

async function draw() {
  const mine = ++turn
  const { pathname } = location
  const module = await (VIEWS[pathname] ?? VIEWS["/"])()
  if (mine !== turn) return
  const { search } = location
  document.title = pathname === "/" ? "kebab" : `${NAMES[pathname] ?? "kebab"} · kebab`
  for (const link of document.querySelectorAll(".top nav a"))
    link.getAttribute("href") === pathname ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")
  // On a phone the names are wider than the screen; sideways alone, since the page may stand at cited lines.
  const here = document.querySelector(".top nav [aria-current]")
  if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetLeft - 16
  if (shown && shown.path === pathname && shown.view.update) {
    shown.view.update(new URLSearchParams(search))
    return
  }
  shown?.view.leave?.()
  const view = module.view(new URLSearchParams(search), { go })
  shown = { path: pathname, view }
  fill(main, view.element)
  scrollTo(0, 0)
  view.ready?.()
}

addEventListener("popstate", draw)

addEventListener("click", event => {
  const link = event.target.closest?.("a[href]")
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.target) return
  const url = new URL(link.href)
  if (url.origin !== location.origin || !(url.pathname in VIEWS)) return
  if (url.pathname === location.pathname && url.search === location.search && url.hash) return
  event.preventDefault()
  go(url.pathname + url.search + url.hash)
})

const typing = target => target.matches?.("input, textarea, select, [contenteditable]")

addEventListener("keydown", event => {
  // A key of an input method is not ours: Enter ends a Korean syllable first.
  if (event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey) return
  if (document.querySelector("dialog[open]")) return
  if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return }
  if (shown?.view.key?.(event, typing(event.target))) { event.preventDefault(); return }
  if (typing(event.target)) return
  const actions = { "/": focusSearch, "?": help, g: () => go("/"), a: () => go("/ask") }
  if (event.key in actions) { event.preventDefault(); actions[event.key]() }
})

async function focusSearch() {
  if (location.pathname !== "/") await go("/")
  document.querySelector("#query")?.select()
}

const KEYS = [
  ["/", "search"], ["j  k", "next and previous hit"], ["Enter", "open the note at the lines"], ["o", "open it in a new tab"],
  ["e", "why this hit stands here"], ["s", "save this search"], ["a", "ask"], ["Esc", "leave the field; back to the results"], ["?", "this help"],
]

function help() {
  const dialog = h("dialog", { "aria-label": "Keyboard" }, h("h2", {}, "Keyboard"),
    h("dl", {}, KEYS.map(([keys, what]) => [h("dt", {}, keys.split("  ").map(key => [h("kbd", {}, key), " "])), h("dd", {}, what)])),
    h("p", { class: "small quiet" }, "In a query: ", h("code", {}, '"two words"'), " is a phrase, ", h("code", {}, "-word"), " excludes, ", h("code", {}, "tag:x"), ", ", h("code", {}, "lang:ko"), " and ", h("code", {}, "path:notes/**"), " filter."),
    h("form", { method: "dialog" }, h("button", { class: "button" }, "Close")))
  document.body.append(dialog)
  dialog.addEventListener("close", () => dialog.remove())
  dialog.showModal()
}

document.getElementById("help").addEventListener("click", help)
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"
  try { localStorage.setItem("kebab.theme", root.dataset.theme) } catch { /* until the page is closed */ }
})

draw()
