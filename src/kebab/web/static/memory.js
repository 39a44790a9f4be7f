// What agents did: search, learning curves, agents with their intervals, and the graph of causes.

import { get } from "./api.js"
import { graph, intervals, lines } from "./charts.js"
import { count, failure, fill, h } from "./dom.js"

export function view(parameters, { go }) {
  const input = h("input", { class: "text-input", placeholder: "Was something like this done before?", "aria-label": "Search the memory", id: "recall" })
  const found = h("div")
  const out = h("div", {}, h("p", { class: "quiet" }, "loading …"))
  const one = h("div")
  const element = h("div", { class: "shop" }, h("header", {}, h("h1", {}, "Memory"), h("form", { onsubmit: event => { event.preventDefault(); recall() } }, input)), found, one, out)

  async function load() {
    try {
      const stats = await get("/memory/stats")
      if (!stats.executions) { fill(out, h("div", { class: "empty" }, h("p", {}, "No run is recorded yet."), h("p", { class: "small" }, h("code", {}, "kebab memory record"), ", ", h("code", {}, "kebab memory import"), " or an agent over MCP records what was done."))); return }
      const [{ agents }, { executions }] = await Promise.all([get("/memory/agents"), get("/memory/executions", { limit: 30 })])
      fill(out, h("div", { class: "cards" }, [["runs", stats.executions], ["succeeded", `${Math.round((stats.successes / stats.executions) * 100)} %`], ["agents", stats.agents], ["types of task", stats.task_types], ["documents used", stats.documents]].map(([name, value]) => h("div", { class: "card" }, h("b", {}, value.toLocaleString()), h("span", {}, name)))),
        h("div", { class: "two" }, ranking(agents), h("div", { class: "panel", id: "curve" })), h("h2", {}, "Latest runs"), list(executions))
      if (agents.length) curve(agents[0].agent_id)
    } catch (error) { fill(out, failure(error)) }
  }

  const ranking = agents => h("div", { class: "panel" }, h("h2", {}, "Agents"), h("p", { class: "small quiet" }, "Success rate with its 95 % interval; ordered by what each achieves at the least."),
    intervals(agents.slice(0, 12).map(each => ({ name: each.agent_id, value: each.success_rate, low: each.low, high: each.high, note: `${each.executions} runs` })), { label: "Agents with intervals" }),
    h("p", {}, agents.slice(0, 12).map(each => [h("button", { class: "link", type: "button", onclick: () => curve(each.agent_id) }, each.agent_id), " "])))

  async function curve(agent) {
    const place = out.querySelector("#curve")
    const { days, trend } = await get("/memory/curve", { agent })
    fill(place, h("h2", {}, `${agent} over time`), h("p", { class: "legend" }, h("span", {}, h("span", { class: "dot meaning" }), "success"), h("span", {}, h("span", { class: "dot words" }), "quality"), h("span", { class: trend === "improving" ? "ok" : trend === "declining" ? "bad" : "quiet" }, trend)),
      lines(days.map(each => ({ label: each.day.slice(5), success: each.success_rate, quality: each.avg_quality })), { series: ["success", "quality"], label: `Learning curve of ${agent}` }))
  }

  const list = runs => h("div", { class: "panel scroll" }, h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ["", "task", "agent", "type", "finished"].map(name => h("th", {}, name || h("span", { class: "skip" }, "outcome"))))),
    h("tbody", {}, runs.map(run => h("tr", { class: "pick", tabindex: 0, onclick: () => go(`/memory?id=${encodeURIComponent(run.id)}`), onkeydown: event => { if (event.key === "Enter") go(`/memory?id=${encodeURIComponent(run.id)}`) } },
      h("td", { class: run.success ? "ok" : "bad", "aria-label": run.success ? "succeeded" : "failed" }, run.success ? "✓" : "✗"), h("td", {}, run.task_description, run.lesson && h("div", { class: "small quiet" }, `→ ${run.lesson}`)), h("td", {}, run.agent_id), h("td", {}, run.task_type), h("td", { class: "soft" }, new Date(run.finished_at).toLocaleDateString()))))))

  async function open(id) {
    try {
      const [run, { causes }, { effects }] = await Promise.all([get("/memory/execution", { id }), get("/memory/causes", { id }), get("/memory/effects", { id })])
      const facts = [["approach", run.approach], ["result", run.result], ["lesson", run.lesson], ["error", run.error], ["used", run.documents_used.join(", ")], ["quality", run.quality_score.toFixed(2)], ["took", `${(run.latency_ms / 1000).toFixed(1)} s`], ["cost", `${run.cost_cents} ¢`]].filter(([, value]) => value)
      fill(one, h("div", { class: "panel" }, h("h2", { class: run.success ? "ok" : "bad" }, `${run.success ? "✓" : "✗"} ${run.task_description}`), h("p", { class: "quiet small" }, `${run.agent_id} · ${run.task_type} · ${run.id}`),
        h("dl", {}, facts.map(([name, value]) => [h("dt", { class: "small quiet" }, name), h("dd", {}, value)])),
        h("h2", {}, "What led to it, and what it led to"), causes.length + effects.length ? h("div", { class: "scroll" }, graph(run, causes, effects, { label: "Graph of causes", onpick: each => go(`/memory?id=${encodeURIComponent(each.id)}`) })) : h("p", { class: "quiet" }, "It stands alone.")))
    } catch (error) { fill(one, failure(error)) }
  }

  async function recall() {
    const text = input.value.trim()
    if (!text) { fill(found); return }
    try {
      const { hits, withheld } = await get("/memory/search", { text })
      fill(found, hits.length ? list(hits.map(hit => hit.execution)) : h("p", { class: "notice" }, `Nothing like this was done before${withheld ? `; ${count(withheld, "run")} near, but not relevant enough` : ""}.`))
    } catch (error) { fill(found, failure(error)) }
  }

  const take = from => (from.get("id") ? open(from.get("id")) : fill(one))
  load()
  take(parameters)
  return { element, update: take }
}
