// Search as you type: debounced, late replies dropped, right while a syllable is being composed.

import { get } from "./api.js"
import { count, day, docLink, failure, fill, h, say } from "./dom.js"
import { explanation, hitElement, linesOf } from "./hit.js"
import * as keep from "./keep.js"
import { chunkLines, noteView } from "./note.js"
import { whyNot } from "./whynot.js"

const WAIT = 30
const PAUSE = 150
const FACETS = { lang: "language", tag: "tag", media: "format", source: "source", source_type: "type" }
const SHOWN = { lang: 4, tag: 8, media: 4, source: 4, source_type: 3 }
const MODES = { "": "both", lexical: "words", vector: "meaning" }
const K = 20
const PER_NOTE = 3 // hits shown of one note
// The beginning of a syllable that an input method has not finished: nothing to search for yet.
const UNFINISHED = /[\u3131-\u318e\u1100-\u11ff]+$/

export function view(parameters, { go }) {
  const state = { filters: {}, mode: "", composing: false, exact: false, turn: 0, hits: [], at: -1, asked: null, facets: null, all: false }
  const input = h("input", {
    id: "query", type: "text", role: "searchbox", autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "search",
    placeholder: "Search your notes, 한국어 or English", "aria-label": "Search",
  })
  const modes = h("div", { class: "modes", role: "group", "aria-label": "Search by" }, Object.entries(MODES).map(([mode, name]) =>
    h("button", { type: "button", "data-mode": mode, "aria-pressed": "false", onclick: () => { state.mode = mode; changed(0) } }, name)))
  const bar = h("div", { class: "bar" })
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Filters" })
  const results = h("div", { class: "results", role: "region", "aria-label": "Results" })
  const preview = h("section", { class: "preview hidden", "aria-label": "Note", tabindex: "0" })
  const head = h("div", { class: "ask-bar" }, h("div", { class: "field" }, GLASS(), input, modes), bar, chips)
  const element = h("div", { class: "search" }, head, results, preview)
  let timer = null
  let running = null

  // --- what was asked -------------------------------------------------------------------------

  function take(from) {
    input.value = from.get("q") ?? ""
    state.mode = from.get("mode") ?? ""
    state.filters = Object.fromEntries(Object.keys(FACETS).map(name => [name, from.getAll(name)]).filter(([, values]) => values.length))
  }

  function address() {
    const parameters = new URLSearchParams()
    if (input.value.trim()) parameters.set("q", input.value.trim())
    if (state.mode) parameters.set("mode", state.mode)
    for (const [name, values] of Object.entries(state.filters)) for (const value of values) parameters.append(name, value)
    return parameters.size ? `/?${parameters}` : "/"
  }

  const queried = () => (state.composing ? input.value.replace(UNFINISHED, "") : input.value).trim()

  function changed(wait = WAIT) {
    clearTimeout(timer)
    timer = setTimeout(search, wait)
  }

  input.addEventListener("compositionstart", () => { state.composing = true })
  input.addEventListener("compositionend", () => { state.composing = false; changed(0) })
  input.addEventListener("input", () => {
    // The first key after a pause is searched at once; only those of a fast typist wait for each other.
    const now = performance.now()
    state.exact = false
    changed(now - (state.typed ?? 0) > PAUSE ? 0 : WAIT)
    state.typed = now
  })
  input.addEventListener("keydown", event => {
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === "Enter" && state.hits.length) { event.preventDefault(); rest(); input.blur(); move(state.at < 0 ? 0 : state.at, true) }
    if (event.key === "ArrowDown") { event.preventDefault(); input.blur(); move(Math.max(0, state.at)) }
  })

  // --- searching ------------------------------------------------------------------------------

  async function search() {
    const query = queried()
    const asked = JSON.stringify([query, state.mode, state.exact, state.filters])
    press()
    history.replaceState(null, "", address())
    if (asked === state.asked) return
    state.asked = asked
    running?.abort()
    if (!query) { start(); return }
    const mine = ++state.turn
    running = new AbortController()
    try {
      const begun = performance.now()
      const found = await get("/search", { query, mode: state.mode, k: K, explain: true, groups: true, exact: state.exact, ...state.filters }, { signal: running.signal })
      if (mine !== state.turn) return // a later one was asked in the meantime
      draw(query, found, performance.now() - begun)
    } catch (error) {
      if (mine === state.turn && error.name !== "AbortError") { state.asked = null; fill(results, failure(error)) }
    }
  }

  function draw(query, found, took) {
    state.hits = found.hits
    state.parts = []
    const copies = copiesOf(found)
    const groups = Map.groupBy ? Map.groupBy(found.hits, hit => hit.doc_id) : grouped(found.hits)
    for (const [id, [hit]] of groups) if (copies.hidden.has(hit.doc_path)) groups.delete(id)
    // One long note may hold all the best hits: the other notes are shown all the same.
    for (const each of found.groups ?? []) if (!groups.has(each.doc_id)) groups.set(each.doc_id, [each])
    const inAll = new Map((found.groups ?? []).map(each => [each.doc_id, 1 + (each.others ?? []).length]))
    const drawn = [...groups].map(([id, hits]) => group(hits, query, found.fusion, copies.of.get(id) ?? [], inAll.get(id) ?? hits.length))
    const notes = `${count(state.parts.length, "hit")} in ${count(groups.size, "note")}`
    fill(bar, h("span", { class: "number" }, notes), h("span", { class: "number" }, `${Math.round(took)} ms`),
      found.weak && drawn.length > 0 && h("span", { class: "warn" }, "nothing fits well"),
      corrected(found), found.degraded.map(each => h("span", { class: "warn" }, each.message)), h("span", { class: "spacer" }), saveButton(query),
      h("a", { href: `/ask?q=${encodeURIComponent(query)}` }, "ask this"))
    fill(results, drawn.length ? drawn : nothing(), whyNot(query, state))
    element.classList.add("wide")
    state.at = -1
    move(0, false, { quiet: true })
    results.dataset.query = query
    results.dataset.painted = "false"
    requestAnimationFrame(() => requestAnimationFrame(() => { results.dataset.painted = "true" }))
    say(found.weak && drawn.length ? `${notes}, nothing fits well` : notes)
    clearTimeout(state.resting)
    state.resting = setTimeout(rest, 1500)
    details(groups)
  }

  /** Near-copies are shown once: the others are named beside the one that is shown. */
  function copiesOf(found) {
    const held = (found.groups ?? []).filter(each => each.copies?.length)
    return { hidden: new Set(held.flatMap(each => each.copies)), of: new Map(held.map(each => [each.doc_id, each.copies])) }
  }

  function corrected(found) {
    const exactly = h("button", { class: "link", type: "button", onclick: () => { state.exact = true; changed(0) } }, "as typed")
    return (found.corrections ?? []).length > 0 && h("span", {}, "searched for ", found.corrections.map((each, index) => [index ? ", " : "", h("b", {}, each.instead), ` instead of ${each.word}`]), " ", exactly)
  }

  function grouped(hits) {
    const found = new Map()
    for (const hit of hits) found.set(hit.doc_id, [...(found.get(hit.doc_id) ?? []), hit])
    return found
  }

  const nothing = () => h("div", { class: "empty" }, h("p", {}, "Nothing found."),
    h("p", { class: "small" }, Object.keys(state.filters).length ? "Try without the filters, or fewer words." : "Try fewer words, or leave out quotes."))

  function group(hits, query, fusion, copies, inAll) {
    const best = hits[0]
    const shown = hits.slice(0, PER_NOTE)
    const more = inAll - shown.length
    const facts = h("span", { class: "facts", "data-doc": best.doc_id })
    return h("article", { class: "group" },
      h("header", {}, h("h2", {}, h("a", { href: docLink(best.doc_id, { lines: linesOf(best), chunk: best.chunk_id, query }) }, best.title)),
        h("span", { class: "path" }, best.doc_path), facts,
        copies.length > 0 && h("span", { class: "path" }, `the same text: ${copies.join(", ")}`)),
      shown.map(hit => part(hit, query, fusion)),
      more > 0 && h("p", { class: "small quiet" }, `${more} more in this note`))
  }

  function part(hit, query, fusion) {
    const index = state.parts.length
    const made = hitElement(hit, { query, onpick: event => picked(event, index), onexplain: () => explain(index) })
    state.parts.push({ ...made, hit, fusion })
    return made.element
  }

  function picked(event, index) {
    if (event.target.closest("a, button, .explain")) return
    rest()
    if (index === state.at || preview.offsetParent === null) go(state.parts[index].href)
    else move(index)
  }

  function explain(index = state.at) {
    const each = state.parts[index]
    if (!each) return
    const open = each.element.querySelector(".explain")
    if (open) open.remove()
    else each.element.append(explanation(each.hit, each.fusion))
    each.why.setAttribute("aria-expanded", String(!open))
  }

  /** Dates and tags come after the hits are painted: they are not worth waiting for. */
  async function details(groups) {
    const mine = state.turn
    const ids = [...groups.keys()]
    if (!ids.length) return
    await new Promise(resolve => setTimeout(resolve, 120))
    if (mine !== state.turn) return
    const { documents } = await get("/documents", { doc_id: ids }).catch(() => ({ documents: [] }))
    if (mine !== state.turn) return
    for (const each of documents) {
      const facts = results.querySelector(`.facts[data-doc="${each.doc_id}"]`)
      if (facts) fill(facts, day(each.date), each.tags.slice(0, 5).map(tag => h("span", { class: "pill" }, tag)))
    }
  }

  // --- moving through the hits ----------------------------------------------------------------

  function move(index, open = false, { quiet = false } = {}) {
    if (!state.parts?.length) { preview.classList.add("hidden"); element.classList.remove("wide"); return }
    state.parts[state.at]?.element.classList.remove("on")
    state.at = Math.max(0, Math.min(index, state.parts.length - 1))
    const each = state.parts[state.at]
    each.element.classList.add("on")
    if (!quiet) each.element.scrollIntoView({ block: "nearest" })
    if (open) go(each.href)
    else show(each.hit)
  }

  let previewing = 0
  function show(hit) {
    clearTimeout(previewing)
    preview.classList.remove("hidden")
    if (preview.offsetParent === null) return // too narrow for a second column
    previewing = setTimeout(async () => {
      try {
        const view = await get("/view", { reference: hit.doc_id })
        if (state.parts[state.at]?.hit !== hit) return
        const note = noteView(view, { lines: linesOf(hit) ?? chunkLines(view, hit.chunk_id) })
        fill(preview, h("header", {}, h("span", { class: "mono" }, hit.doc_path), h("a", { href: docLink(hit.doc_id, { lines: linesOf(hit), chunk: hit.chunk_id, query: queried() }) }, "open")), note.element)
        note.show(preview)
      } catch (error) { fill(preview, failure(error)) }
    }, 120)
  }

  // --- chips, history, saved searches ---------------------------------------------------------

  function press() {
    for (const button of modes.children) button.setAttribute("aria-pressed", String(button.dataset.mode === state.mode))
    drawChips()
  }

  function toggle(name, value) {
    const held = state.filters[name] ?? []
    const next = held.includes(value) ? held.filter(each => each !== value) : [...held, value]
    const { [name]: _, ...rest } = state.filters
    state.filters = next.length ? { ...rest, [name]: next } : rest
    changed(0)
  }

  function drawChips() {
    if (!state.facets) return
    const parts = Object.entries(FACETS).flatMap(([name, label]) => {
      const values = state.facets[name] ?? []
      const held = state.filters[name] ?? []
      if (values.length < 2 && !held.length) return []
      const shown = values.filter((each, index) => state.all || index < SHOWN[name] || held.includes(each.value))
      return [h("span", { class: "name" }, label), ...shown.map(each => h("button", {
        class: "chip", type: "button", "aria-pressed": String(held.includes(each.value)), "data-facet": name, "data-value": each.value, onclick: () => toggle(name, each.value),
      }, each.value, h("span", { class: "number" }, each.documents)))]
    })
    const more = Object.entries(SHOWN).some(([name, most]) => (state.facets[name] ?? []).length > most)
    fill(chips, parts, more && h("button", { class: "link", type: "button", onclick: () => { state.all = !state.all; drawChips() } }, state.all ? "fewer" : "more"))
  }

  const entry = () => ({ text: input.value.trim(), href: address() })

  function rest() {
    clearTimeout(state.resting)
    if (input.value.trim() && state.hits.length) keep.remember(entry())
  }

  function saveButton(query) {
    const button = h("button", { class: "link", type: "button", id: "save", onclick: () => { keep.toggleSaved(entry()); name() } })
    const name = () => { button.textContent = keep.isSaved(entry()) ? "saved ★" : "save ☆" }
    name()
    return button
  }

  async function start() {
    state.turn += 1
    state.hits = []
    state.parts = []
    element.classList.remove("wide")
    preview.classList.add("hidden")
    const mine = state.turn
    fill(bar)
    delete results.dataset.query
    fill(results)
    let documents = []
    try { ({ documents } = await get("/documents", state.filters)) } catch (error) { fill(results, failure(error)); return }
    if (mine !== state.turn) return
    const newest = [...documents].sort((a, b) => (b.updated_at ?? "").localeCompare(a.updated_at ?? "")).slice(0, 8)
    const listed = (title, entries, extra) => entries.length > 0 && h("section", {}, h("h2", {}, title, extra), h("ul", {}, entries))
    const links = entries => entries.map(each => h("li", {}, h("a", { href: each.href }, each.text || each.href)))
    const forget = h("button", { class: "link", type: "button", onclick: () => { keep.forget(); start() } }, "forget")
    fill(bar, h("span", {}, count(documents.length, "note")))
    fill(results, h("div", { class: "start" },
      h("div", {}, listed("Saved", links(keep.saved())), listed("Recent searches ", links(keep.recent().slice(0, 8)), forget),
        !keep.saved().length && !keep.recent().length && h("section", {}, h("h2", {}, "Begin"), h("p", { class: "quiet" }, "Type a few words. ", h("kbd", {}, "j"), " ", h("kbd", {}, "k"), " move, ", h("kbd", {}, "Enter"), " opens, ", h("kbd", {}, "?"), " shows all keys."))),
      listed("Latest notes", newest.map(each => h("li", {}, h("a", { href: docLink(each.doc_id), lang: each.lang }, each.title), h("span", { class: "quiet small" }, day(each.updated_at)))))))
  }

  function key(event, typing) {
    if (typing) return false
    const actions = {
      j: () => move(state.at + 1), ArrowDown: () => move(state.at + 1), k: () => move(state.at - 1), ArrowUp: () => move(state.at - 1),
      Enter: () => { rest(); move(state.at, true) }, e: () => explain(), s: () => document.getElementById("save")?.click(),
      o: () => { rest(); open(state.parts[state.at].href, "_blank", "noopener") },
    }
    if (event.target.closest?.("button, a, summary") && event.key === "Enter") return false
    if (!(event.key in actions) || !state.parts?.length) return false
    actions[event.key]()
    return true
  }

  take(parameters)
  get("/facets").then(({ facets }) => { state.facets = facets; drawChips() }).catch(() => {})
  return {
    element, key,
    update(parameters) { take(parameters); state.asked = null; search() },
    ready() { search(); if (!input.value || matchMedia("(hover: hover)").matches) input.focus() },
    leave() { clearTimeout(timer); rest(); running?.abort() },
  }
}

const GLASS = () => h("svg", { width: 19, height: 19, viewBox: "0 0 20 20", "aria-hidden": "true" },
  h("circle", { cx: 8.5, cy: 8.5, r: 5.6, fill: "none", stroke: "currentColor", "stroke-width": 1.8 }),
  h("path", { d: "M13 13l4.4 4.4", stroke: "currentColor", "stroke-width": 1.8, "stroke-linecap": "round" }))
