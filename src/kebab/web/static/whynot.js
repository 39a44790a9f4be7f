// "Why not this note?": where a note stands in each leg, and what kept it out.

import { get } from "./api.js"
import { failure, fill, h } from "./dom.js"

export function whyNot(query, state) {
  const choices = h("datalist", { id: "notes" })
  const input = h("input", { class: "text-input", list: "notes", placeholder: "its path or title", "aria-label": "Path of the note", autocomplete: "off" })
  const told = h("div", { "aria-live": "polite" })
  let known = null

  async function offer() {
    if (known) return
    known = []
    const { documents } = await get("/documents").catch(() => ({ documents: [] }))
    known = documents
    fill(choices, documents.slice(0, 2000).map(each => h("option", { value: each.doc_path }, each.title)))
  }

  async function explain(event) {
    event.preventDefault()
    const wanted = input.value.trim()
    if (!wanted) return
    const named = known?.find(each => each.doc_path === wanted) ?? known?.find(each => each.title === wanted)
    try {
      const found = await get("/why", { query, reference: named?.doc_id ?? wanted, mode: state.mode, ...state.filters })
      fill(told, verdict(found))
    } catch (error) { fill(told, failure(error)) }
  }

  input.addEventListener("focus", offer)
  return h("section", { class: "whynot" },
    h("p", { class: "quiet small" }, "A note is missing?"),
    h("form", { onsubmit: explain }, input, choices, h("button", { class: "button" }, "Why not this note?")), told)
}

function verdict(found) {
  return h("div", { class: "explain fade" },
    h("p", {}, h("b", {}, found.doc_path), " ", h("span", { class: found.shown ? "ok" : "warn" }, found.verdict)),
    found.removed_by.map(each => h("p", { class: "warn" }, `removed by ${each}`)),
    found.chunks.slice(0, 3).map(chunk => h("div", {},
      h("p", { class: "quiet" }, chunk.heading_path.join(" › "), chunk.rank ? ` · place ${chunk.rank}` : "", ` · ${chunk.verdict}`),
      h("table", {}, h("tbody", {}, chunk.legs.map(leg => h("tr", {},
        h("td", {}, h("span", { class: `dot ${leg.leg === "vector" ? "meaning" : "words"}` }), leg.leg === "vector" ? "meaning" : "words"),
        h("td", {}, leg.rank ? `#${leg.rank}` : "not found"),
        h("td", {}, leg.matched_terms.join(" ")),
        h("td", { class: "quiet" }, [leg.missing_terms.length ? `lacks ${leg.missing_terms.join(" ")}` : "", leg.note].filter(Boolean).join(" · ")))))))))
}
