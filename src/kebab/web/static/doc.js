// A note to read: outline on the left, what is near on the right.

import { get } from "./api.js"
import { bytes, count, day, docLink, failure, fill, h } from "./dom.js"
import { chunkLines, noteView } from "./note.js"

export function view(parameters, { go }) {
  const element = h("div", { class: "doc" })
  let note = null

  async function load(from) {
    try {
      const found = await get("/view", { reference: await named(from) })
      const lines = from.get("lines") ?? chunkLines(found, from.get("chunk")) ?? await citedLines(from.get("cite"))
      note = noteView(found, { lines })
      draw(found, lines, from.get("q"))
      if (note.cited.length) note.show()
      near(found.inspection.document)
    } catch (error) {
      fill(element, h("div"), h("div", {}, failure(error), h("p", {}, h("a", { href: `/?q=${encodeURIComponent(from.get("wiki") ?? from.get("ref") ?? "")}` }, "search for it"))))
    }
  }

  /** Where a page, a slide or a time stands in the text that is shown. */
  async function citedLines(uri) {
    if (!uri) return null
    const found = await get("/fetch/citation", { uri }).catch(() => null)
    return found && `${found.line_start}-${found.line_end}`
  }

  /** A [[wiki link]] names a note by its title or its file's name. */
  async function named(from) {
    const wiki = from.get("wiki")
    if (!wiki) return from.get("ref") ?? ""
    return (await get("/links", { reference: wiki.split("#")[0].trim() })).note.doc_id
  }

  function draw(found, lines, query) {
    const { document: doc, stale, source_state: state } = found.inspection
    document.title = `${doc.title} · kebab`
    const outline = h("aside", { class: "outline" }, found.outline.length > 1 && h("nav", { "aria-label": "Outline" }, h("h2", {}, "Outline"),
      h("ul", {}, found.outline.map(each => h("li", { class: `d${each.level}` }, h("a", { href: `#${each.anchor}`, onclick: event => { event.preventDefault(); location.replace(`#${each.anchor}`) } }, each.text))))))
    const header = h("header", {}, h("h1", { lang: doc.lang }, doc.title),
      h("div", { class: "facts" }, h("span", { class: "mono" }, doc.doc_path), day(doc.date), doc.tags.map(tag => h("a", { class: "pill", href: `/?tag=${encodeURIComponent(tag)}` }, tag))),
      h("div", { class: "actions small" }, query && h("a", { href: `/?q=${encodeURIComponent(query)}` }, "← back to the results"),
        lines && h("span", { class: "quiet" }, `lines ${lines.replace("-", " to ")} are marked`)),
      stale && h("p", { class: "notice" }, state === "gone" ? "The file is gone; this is what was indexed." : "The file changed since it was indexed; this is what was indexed."),
      found.truncated && h("p", { class: "notice" }, `Only the beginning is shown: the note has ${found.lines.toLocaleString()} lines.`))
    // The title of most notes is their first heading, which the header shows already.
    const first = note.element.querySelector("h1")
    if (first && first.textContent.trim() === doc.title && !note.element.querySelector("h1 ~ h1")) first.classList.add("hidden")
    const facts = h("section", {}, h("h2", {}, "About"), h("dl", {},
      [["language", doc.lang], ["format", doc.media], ["size", bytes(doc.byte_len)], ["chunks", doc.chunk_count], ["source", doc.source_id], ["trust", doc.trust_level], ["indexed", day(doc.indexed_at)]].map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])))
    fill(element, outline, h("article", {}, header, note.element), h("aside", { class: "near", "aria-label": "About this note" }, facts))
  }

  async function near(doc) {
    const side = element.querySelector(".near")
    const [links, near] = await Promise.all([get("/links", { reference: doc.doc_id }), get("/related", { reference: doc.doc_id, k: 6 })].map(each => each.catch(() => null)))
    const item = (note, { lines, title } = {}) => h("li", { title }, h("a", { href: docLink(note.doc_id, { lines }) }, note.title))
    const lines = citation => (citation.kind === "line" ? `${citation.start}-${citation.end}` : null)
    const each = (list, made) => [...new Map(list.map(link => [link.note?.doc_id ?? link.target, link])).values()].map(made)
    const parts = [
      ["Linked from", each(links?.back ?? [], link => item(link.note, { lines: lines(link.citation), title: link.text }))],
      ["Links to", each((links?.out ?? []).filter(link => link.status === "resolved"), link => item(link.note, { lines: link.place && lines(link.place) }))],
      ["Broken links", each(links?.broken ?? [], link => h("li", { class: "warn", title: link.reason }, link.target))],
      ["Related", (near?.related ?? []).map(found => item(found.note, { title: found.reasons.map(reason => reason.text).join("; ") }))],
    ].filter(([, items]) => items.length)
    side?.prepend(...parts.map(([title, items]) => h("section", {}, h("h2", {}, title), h("ul", {}, items))))
  }

  load(parameters)
  return { element, update: load, key: event => { if (event.key === "Escape") { history.length > 1 ? history.back() : go("/"); return true } return false } }
}
