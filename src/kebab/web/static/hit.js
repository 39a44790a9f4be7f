// One hit: its place in the note, the marked lines, what each leg gave, and why it stands where it stands.

import { docLink, h, headingOf, marked } from "./dom.js"

const LEGS = { lexical: "words", vector: "meaning" }
const WIDTH = 64

/** A picture of what each leg gave: the length of a bar is the leg's share of the score, beside it the rank. */
export function legs(hit) {
  const parts = shares(hit)
  const total = parts.reduce((sum, part) => sum + part.share, 0) || 1
  const drawn = parts.map((part, index) => {
    const width = Math.max(part.rank ? 3 : 0, (part.share / Math.max(total, 1e-9)) * WIDTH * Math.min(1, hit.score))
    return h("g", {},
      h("rect", { x: 0, y: index * 8, width: WIDTH, height: 5, rx: 2.5, class: "leg-none" }),
      h("rect", { x: 0, y: index * 8, width, height: 5, rx: 2.5, class: `leg-${part.name}` }))
  })
  const told = parts.map(part => (part.rank ? `${part.name} #${part.rank}` : `not by ${part.name}`)).join(", ")
  return h("span", { class: "legs", title: `${told} · score ${hit.score.toFixed(3)}` },
    h("svg", { width: WIDTH, height: 13, viewBox: `0 0 ${WIDTH} 13`, role: "img", "aria-label": told }, drawn))
}

function shares(hit) {
  const found = hit.retrieval
  const given = Object.fromEntries((hit.evidence ?? []).map(each => [each.leg, each]))
  return Object.entries(LEGS).map(([leg, name]) => ({
    leg, name, rank: found[`${leg}_rank`], score: found[`${leg}_score`],
    share: given[leg]?.contribution ?? found[`${leg}_score`] ?? 0, evidence: given[leg],
  }))
}

export function explanation(hit, fusion) {
  const rows = shares(hit).map(part => h("tr", {},
    h("td", {}, h("span", { class: `dot ${part.name}` }), part.name),
    h("td", {}, part.rank ? `#${part.rank}` : "not found"),
    h("td", { class: "number" }, part.evidence ? part.evidence.raw_score.toFixed(3) : "–"),
    h("td", { class: "number" }, part.evidence?.contribution != null ? `+${part.evidence.contribution.toFixed(3)}` : "–"),
    h("td", { class: "quiet" }, (part.evidence?.matched_terms ?? []).join(" "))))
  return h("div", { class: "explain fade" },
    h("table", {}, h("thead", {}, h("tr", {}, ["leg", "rank", "raw score", "gives", "matched"].map(name => h("th", {}, name)))), h("tbody", {}, rows)),
    fusion && h("p", { class: "quiet" }, `${fusion.policy}: ${fusion.reason}`),
    hit.rerank && h("p", { class: "quiet" }, `put from place ${hit.rerank.rank_before} to ${hit.rerank.rank} by ${hit.rerank.model}`),
    hit.repeats && h("p", { class: "quiet" }, "stands low because it repeats a better chunk of the same note"))
}

export const linesOf = hit => (hit.citation.kind === "line" || hit.citation.kind === "code" ? `${hit.citation.start}-${hit.citation.end}` : null)

export function hitElement(hit, { query, onpick, onexplain }) {
  // The note's title stands above the group already.
  const below = hit.heading_path.filter((part, index) => index || part !== hit.title)
  const trail = below.length ? below : [hit.title]
  const heading = headingOf(hit.snippet, hit.marks)
  const shown = hit.readable === undefined ? marked(hit.snippet, hit.marks) : marked(hit.readable, hit.readable_marks)
  const href = docLink(hit.doc_id, { lines: linesOf(hit), chunk: hit.chunk_id, query })
  const why = h("button", { class: "link", type: "button", "aria-expanded": "false", onclick: event => { event.stopPropagation(); onexplain() } }, "why here?")
  const element = h("div", { class: "hit", "data-chunk": hit.chunk_id, onclick: onpick },
    h("div", { class: "where" },
      h("span", { class: "trail" }, h("span", { class: "parents" }, trail.slice(0, -1).map(part => `${part} › `)), h("b", {}, heading.text === trail.at(-1) ? marked(trail.at(-1), heading.marks) : trail.at(-1))),
      legs(hit)),
    h("div", { class: hit.code_lang ? "snippet mono" : "snippet" }, shown),
    h("div", { class: "more small" },
      h("a", { href, class: "mono" }, hit.citation.uri.split("#").pop()),
      hit.stale && h("span", { class: "warn" }, hit.source_state === "gone" ? "file is gone" : "file changed since"),
      why))
  return { element, why, href }
}
