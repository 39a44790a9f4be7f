// Evaluation runs: the metrics of each, how they went over time, and wins and losses between two.

import { get } from "./api.js"
import { bars, changes, lines } from "./charts.js"
import { count, failure, fill, h } from "./dom.js"

const METRICS = ["nDCG@10", "MRR@10", "hit@1", "hit@10", "R@100"]

export function view(parameters, { go }) {
  const out = h("div", {}, h("p", { class: "quiet" }, "loading …"))
  const element = h("div", { class: "shop" }, h("header", {}, h("h1", {}, "Evaluation")), out)

  async function load(from) {
    try {
      const { runs } = await get("/evaluations", { limit: 100 })
      if (!runs.length) { fill(out, h("div", { class: "empty" }, h("p", {}, "No run is kept yet."), h("p", { class: "small" }, h("code", {}, "kebab eval run --golden FILE"), " measures search with your own questions."))); return }
      const after = runs.find(run => run.run_id === from.get("run")) ?? runs[0]
      const alike = runs.filter(run => run.name === after.name && run.queries === after.queries)
      const before = runs.find(run => run.run_id === from.get("with")) ?? alike[alike.indexOf(after) + 1]
      fill(out, table(runs, after, before), h("div", { class: "two" }, metrics(after, before), history(alike)), h("div", { id: "compared" }))
      if (before) compared(before, after)
    } catch (error) { fill(out, failure(error)) }
  }

  const pick = run => go(`/evaluations?run=${encodeURIComponent(run.run_id)}`)

  const table = (runs, after, before) => h("div", { class: "panel scroll" }, h("table", { class: "grid" },
    h("thead", {}, h("tr", {}, h("th", {}, "run"), h("th", {}, "set"), h("th", {}, "mode"), METRICS.map(name => h("th", { class: "num" }, name)), h("th", { class: "num" }, "p50 ms"))),
    h("tbody", {}, runs.slice(0, 20).map(run => h("tr", { class: `pick${run === after ? " on" : ""}`, tabindex: 0, onclick: () => pick(run), onkeydown: event => { if (event.key === "Enter") pick(run) } },
      h("td", {}, new Date(run.created_at).toLocaleString(), run === before && h("span", { class: "pill" }, "before")), h("td", {}, run.name, h("span", { class: "quiet" }, ` · ${count(run.queries, "query", "queries")}`)), h("td", {}, run.mode, run.fusion ? ` · ${run.fusion}` : ""),
      METRICS.map(name => h("td", { class: "num" }, run.metrics[name]?.toFixed(3) ?? "–")), h("td", { class: "num" }, run.metrics.p50_ms?.toFixed(1) ?? "–"))))))

  const metrics = (after, before) => h("div", { class: "panel" }, h("h2", {}, "This run"), before && h("p", { class: "legend" }, h("span", {}, h("span", { class: "dot meaning" }), "this run"), h("span", {}, h("span", { class: "dot words" }), "before")),
    bars(METRICS.filter(name => name in after.metrics).map(name => ({ name, value: after.metrics[name], before: before?.metrics[name] })), { label: "Metrics of this run" }))

  const history = alike => h("div", { class: "panel" }, h("h2", {}, "Over time"), h("p", { class: "legend" }, h("span", {}, h("span", { class: "dot meaning" }), "nDCG@10"), h("span", {}, h("span", { class: "dot words" }), "hit@1")),
    lines([...alike].reverse().map(run => ({ label: new Date(run.created_at).toLocaleDateString(undefined, { month: "short", day: "numeric" }), ndcg: run.metrics["nDCG@10"] ?? 0, hit: run.metrics["hit@1"] ?? 0 })), { series: ["ndcg", "hit"], label: "nDCG@10 and hit@1 over the runs" }))

  async function compared(before, after) {
    const place = out.querySelector("#compared")
    try {
      const found = await get("/evaluations/compare", { before: before.run_id, after: after.run_id })
      const rows = [...found.better, ...found.worse].map(each => ({ name: each.text, change: each.after - each.before }))
      rows.sort((a, b) => b.change - a.change)
      fill(place, h("h2", {}, `Wins and losses by ${found.metric}`), h("p", { class: "soft" }, `${count(found.better.length, "query", "queries")} better, ${found.worse.length.toLocaleString()} worse, ${found.unchanged.toLocaleString()} the same.`),
        h("div", { class: "two" }, h("div", { class: "panel" }, rows.length ? changes(rows.slice(0, 30), { label: "Wins and losses" }) : h("p", { class: "quiet" }, "No query changed.")),
          h("div", { class: "panel scroll" }, h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ["metric", "before", "after", "difference", "95 %"].map((name, index) => h("th", { class: index ? "num" : null }, name)))),
            h("tbody", {}, found.differences.map(each => h("tr", {}, h("td", {}, each.metric), h("td", { class: "num" }, each.before.toFixed(3)), h("td", { class: "num" }, each.after.toFixed(3)), h("td", { class: `num ${each.beyond_noise ? (each.difference > 0 ? "ok" : "bad") : "quiet"}` }, (each.difference > 0 ? "+" : "") + each.difference.toFixed(3)), h("td", { class: "num quiet" }, `${each.low.toFixed(3)} to ${each.high.toFixed(3)}`))))))))
    } catch (error) { fill(place, failure(error)) }
  }

  load(parameters)
  return { element, update: load }
}
