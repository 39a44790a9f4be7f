// Health: every check of the doctor, and a button that repairs.

import { get, post } from "./api.js"
import { count, failure, fill, h, say } from "./dom.js"

const SIGNS = { ok: ["✓", "ok"], warning: ["!", "warn"], fault: ["✗", "bad"], repaired: ["↻", "ok"] }

export function view() {
  const out = h("div", {}, h("p", { class: "quiet" }, "looking …"))
  const stats = h("div", { class: "cards" })
  const repair = h("button", { class: "button", type: "button", onclick: () => run(true) }, "Repair")
  const again = h("button", { class: "button", type: "button", onclick: () => run(false) }, "Check again")
  const element = h("div", { class: "shop" }, h("header", {}, h("h1", {}, "Health"), again, repair), stats, out)

  async function run(repairing) {
    repair.disabled = again.disabled = true
    fill(out, h("p", { class: "quiet", role: "status" }, repairing ? "repairing …" : "looking …"))
    try {
      const report = repairing ? await post("/doctor/repair") : await get("/doctor")
      fill(out, verdict(report), h("div", { class: "panel" }, report.checks.map(check)), h("p", { class: "quiet small" }, "network addresses: ", report.endpoints.join(", ") || "none; kebab contacts nothing"))
      say(report.ok ? "everything is well" : "a fault was found")
    } catch (error) { fill(out, failure(error)) }
    repair.disabled = again.disabled = false
  }

  const verdict = report => {
    const faults = report.checks.filter(each => !each.ok).length
    const warnings = report.checks.filter(each => each.status === "warning").length
    return h("h2", { class: faults ? "bad" : warnings ? "warn" : "ok" }, faults ? `${count(faults, "check")} found a fault` : warnings ? `No fault, ${warnings} to look at` : "Everything is well")
  }

  const check = each => {
    const [sign, colour] = SIGNS[each.status] ?? ["·", ""]
    return h("div", { class: "check" }, h("b", { class: colour, title: each.status }, sign, h("span", { class: "skip" }, each.status)), h("b", {}, each.name), h("span", { class: "detail" }, each.detail), each.hint && h("span", { class: "hint" }, each.hint))
  }

  get("/status").then(({ stats: held, kebab_version: version }) => fill(stats,
    [["notes", held.documents], ["chunks", held.chunks], ["revision", held.revision], ["languages", Object.keys(held.languages ?? {}).join(" ")], ["version", version]].filter(([, value]) => value !== undefined && value !== "").map(([name, value]) =>
      h("div", { class: "card" }, h("b", {}, typeof value === "number" ? value.toLocaleString() : value), h("span", {}, name))))).catch(() => {})
  run(false)
  return { element }
}
