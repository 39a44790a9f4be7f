// A question, the answer as it is written, and the lines it rests on beside it.

import { stream } from "./api.js"
import { docLink, failure, fill, h, say } from "./dom.js"

const REASONS = {
  no_hits: "Nothing was found that has to do with it.",
  weak_evidence: "The notes have nothing that answers this surely enough.",
  declined: "What was found does not answer this.",
  not_cited: "The answer that was written named no lines it rests on.",
  cancelled: "It was stopped.",
  model_failed: "The model broke off.",
  unsupported: "The answer that was written could not be checked against the notes.",
}

export function view(parameters, { go }) {
  const input = h("input", { id: "question", autocomplete: "off", placeholder: "Ask your notes a question", "aria-label": "Question", enterkeyhint: "go" })
  const button = h("button", { class: "button main" }, "Ask")
  const out = h("div", { class: "answer" })
  const form = h("form", { class: "field", onsubmit: event => { event.preventDefault(); ask() } }, input, button)
  const element = h("div", { class: "asking" }, form, out)
  let running = null

  input.addEventListener("keydown", event => { if (event.key === "Enter" && (event.isComposing || event.keyCode === 229)) event.preventDefault() })

  async function ask() {
    const question = input.value.trim()
    if (!question) return
    history.replaceState(null, "", `/ask?q=${encodeURIComponent(question)}`)
    running?.abort()
    const mine = running = new AbortController()
    const said = h("div", { class: "said cursor", "aria-live": "polite" })
    const beside = h("aside", { "aria-label": "Sources" })
    fill(out, said, beside)
    let text = ""
    try {
      for await (const event of stream("/ask", { question }, { signal: mine.signal })) {
        if (event.kind === "retrieval_done") fill(beside, h("p", { class: "quiet small" }, `reading ${event.candidates.length} places …`))
        if (event.kind === "token") { text += event.delta; fill(said, h("p", {}, text)) }
        if (event.kind === "final") finish(event.answer, said, beside)
      }
    } catch (error) { if (error.name !== "AbortError") fill(out, failure(error)) }
    said.classList.remove("cursor")
  }

  function finish(answer, said, beside) {
    say(answer.grounded ? "answered" : "no answer")
    if (!answer.grounded) { refuse(answer, said, beside); return }
    const cards = new Map()
    for (const quote of answer.citations) if (!cards.has(quote.citation.uri)) cards.set(quote.citation.uri, card(quote))
    fill(said, answer.claims.length ? answer.claims.map((claim, index) => sentence(claim, cards, index)) : h("p", {}, answer.answer),
      answer.unanswered.map(each => h("p", { class: "quiet" }, `Not answered: ${each}`)),
      h("p", { class: "small quiet" }, `${answer.versions.model} · ${answer.trace_id}`))
    fill(beside, [...cards.values()])
  }

  function sentence(claim, cards, index) {
    const markers = claim.quotes.map(quote => h("button", {
      class: "marker", type: "button", title: quote.citation.uri, "aria-label": `source ${quote.marker}: ${quote.citation.uri}`,
      onclick: () => light(quote.citation.uri, cards),
    }, quote.marker))
    const bare = claim.text.replace(/\s*\[#\d+\]/g, "")
    const words = claim.problems.length ? h("span", { class: "problem", title: claim.problems.join("; ") }, bare) : bare
    return h("p", { class: index ? null : "lead" }, words, [...new Map(markers.map(each => [each.title, each])).values()],
      claim.problems.map(each => h("span", { class: "small bad" }, ` ${each}`)))
  }

  function light(uri, cards) {
    for (const [key, each] of cards) each.classList.toggle("on", key === uri)
    cards.get(uri)?.scrollIntoView({ block: "nearest", behavior: "smooth" })
  }

  function card(quote) {
    const { citation } = quote
    const lines = citation.kind === "line" || citation.kind === "code" ? `${citation.start}-${citation.end}` : null
    return h("section", { class: "quote" }, h("header", {}, h("span", { class: "pill" }, quote.marker), h("a", { href: docLink(citation.path, { lines, cite: citation.uri }) }, citation.uri), citation.stale && h("span", { class: "warn" }, "file changed since")), h("pre", {}, quote.text))
  }

  function refuse(answer, said, beside) {
    fill(said, h("div", { class: "refusal" }, h("p", { class: "lead" }, answer.answer || "The notes do not answer this."), h("p", { class: "quiet small" }, REASONS[answer.refusal_reason] ?? answer.refusal_reason)))
    fill(beside, answer.nearest.length > 0 && h("p", { class: "quiet small" }, "The nearest notes:"),
      answer.nearest.map(each => h("section", { class: "quote" }, h("header", {}, h("a", { href: docLink(each.citation.path, { lines: each.citation.kind === "line" ? `${each.citation.start}-${each.citation.end}` : null }) }, each.citation.uri)),
        h("p", { class: "small soft" }, each.heading_path.join(" › ")), h("pre", {}, each.snippet))))
  }

  function take(from) { input.value = from.get("q") ?? ""; input.value ? ask() : fill(out) }
  return { element, update: take, ready() { input.focus(); take(parameters) }, leave() { running?.abort() } }
}
