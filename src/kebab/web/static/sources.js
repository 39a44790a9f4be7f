// Sources, the ingest ledger with its reasons, and progress while a run goes.

import { get, post, stream } from "./api.js"
import { bytes, count, day, failure, fill, h, say } from "./dom.js"

const PHASES = { scan: "scanning", index: "indexing", embed: "embedding", finish: "finishing" }

export function view() {
  const cards = h("div")
  const runs = h("div", { class: "panel scroll" })
  const items = h("div")
  const going = h("div", { "aria-live": "polite" })
  const button = h("button", { class: "button main", type: "button", onclick: () => ingest({}) }, "Ingest now")
  const element = h("div", { class: "shop" }, h("header", {}, h("h1", {}, "Sources"), button), going, cards, h("h2", {}, "Runs"), runs, items)
  let running = null

  async function load() {
    try {
      const [{ sources }, { runs: listed }] = await Promise.all([get("/sources"), get("/runs", { limit: 12 })])
      fill(cards, h("div", { class: "panel scroll" }, h("table", { class: "grid" },
        h("thead", {}, h("tr", {}, ["source", "folder", "notes", "chunks", "size", "indexed"].map((name, index) => h("th", { class: index > 1 && index < 5 ? "num" : null }, name)))),
        h("tbody", {}, sources.map(each => h("tr", {}, h("td", {}, h("b", {}, each.id), " ", each.trust_level && h("span", { class: "pill" }, each.trust_level), !each.configured && h("span", { class: "pill" }, "no longer configured")),
          h("td", { class: "mono" }, each.root), h("td", { class: "num" }, each.documents.toLocaleString()), h("td", { class: "num" }, each.chunks.toLocaleString()), h("td", { class: "num" }, bytes(each.bytes)), h("td", {}, day(each.last_indexed_at))))))))
      fill(runs, listed.length ? ledger(listed) : h("p", { class: "quiet" }, "There was no run yet."))
      if (listed.length) details(listed[0].run_id)
    } catch (error) {
      fill(cards, error.code === "not_indexed" ? h("p", { class: "notice" }, "Nothing is indexed yet. Start with ", h("b", {}, "Ingest now"), ".") : failure(error))
    }
  }

  const ledger = listed => h("table", { class: "grid" },
    h("thead", {}, h("tr", {}, ["run", "state", "indexed", "unchanged", "skipped", "failed", "removed", "took"].map((name, index) => h("th", { class: index > 1 ? "num" : null }, name)))),
    h("tbody", {}, listed.map(run => h("tr", { class: "pick", tabindex: 0, "data-run": run.run_id, onclick: () => details(run.run_id), onkeydown: event => { if (event.key === "Enter") details(run.run_id) } },
      h("td", {}, new Date(run.started_at).toLocaleString()), h("td", { class: run.status === "completed" ? "ok" : run.status === "running" ? "warn" : "bad" }, run.status),
      ...["indexed", "unchanged", "skipped", "failed", "removed"].map(name => h("td", { class: `num${name === "failed" && run.failed ? " bad" : ""}` }, run[name].toLocaleString())), h("td", { class: "num" }, `${(run.duration_ms / 1000).toFixed(1)} s`)))))

  async function details(id) {
    for (const row of runs.querySelectorAll("tr.pick")) row.classList.toggle("on", row.dataset.run === id)
    const { items: listed } = await get("/runs/items", { run_id: id })
    const told = listed.filter(each => each.outcome !== "unchanged")
    const order = { failed: 0, skipped: 1, removed: 2, indexed: 3 }
    told.sort((a, b) => (order[a.outcome] ?? 9) - (order[b.outcome] ?? 9) || a.path.localeCompare(b.path))
    fill(items, h("h2", {}, "What it did"), h("div", { class: "panel scroll" }, told.length ? h("table", { class: "grid" },
      h("thead", {}, h("tr", {}, ["file", "outcome", "reason"].map(name => h("th", {}, name)))),
      h("tbody", {}, told.slice(0, 300).map(each => h("tr", {}, h("td", { class: "mono" }, each.path), h("td", { class: each.outcome === "failed" ? "bad" : null }, each.outcome), h("td", { class: "soft" }, [each.reason, ...each.warnings].filter(Boolean).join("; "))))))
      : h("p", { class: "quiet" }, `Every file was unchanged (${listed.length}).`), told.length > 300 && h("p", { class: "quiet" }, `and ${told.length - 300} more`)))
  }

  async function ingest(body) {
    running = new AbortController()
    button.disabled = true
    const bar = h("progress", { max: 1, "aria-label": "Progress" })
    const text = h("span", { class: "soft small" })
    const stop = h("button", { class: "link", type: "button", onclick: () => post("/ingest/stop") }, "stop")
    let shown = false
    const show = () => { if (!shown) { fill(going, h("div", { class: "panel" }, bar, h("p", {}, text, " ", stop))); shown = true } }
    try {
      for await (const event of stream("/ingest", body, { signal: running.signal, method: body ? "POST" : "GET" })) {
        if (event.schema_version === "ingest_report.v1") {
          const { run } = event
          say("ingest finished")
          fill(going, h("div", { class: "notice" }, h("p", {}, `${count(run.indexed, "file")} indexed, ${run.unchanged.toLocaleString()} unchanged, ${run.skipped.toLocaleString()} skipped, ${run.failed.toLocaleString()} failed, ${run.removed.toLocaleString()} removed.`), event.degraded.map(each => h("p", { class: "warn" }, each))))
        } else {
          show()
          if (event.total) { bar.max = event.total; bar.value = event.done } else bar.removeAttribute("value")
          text.textContent = [PHASES[event.phase] ?? event.phase, event.total ? `${event.done.toLocaleString()} of ${event.total.toLocaleString()}` : "", event.rate ? `${Math.round(event.rate)}/s` : "", event.path].filter(Boolean).join(" · ")
        }
      }
    } catch (error) { if (error.name !== "AbortError") fill(going, failure(error)) }
    button.disabled = false
    load()
  }

  load()
  ingest(null) // watches a run that is going on; there are no events where none is
  return { element, leave: () => running?.abort() }
}
