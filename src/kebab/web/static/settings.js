// Every setting with its value and where it came from.

import { get } from "./api.js"
import { failure, fill, h } from "./dom.js"

export function view() {
  const out = h("div", {}, h("p", { class: "quiet" }, "loading …"))
  const only = h("input", { type: "checkbox", id: "only" })
  const element = h("div", { class: "shop settings" }, h("header", {}, h("h1", {}, "Settings"), h("label", { class: "small" }, only, " only what was changed")), out)
  let held = null

  const shown = value => (value === "" ? h("span", { class: "quiet" }, "–") : Array.isArray(value) ? value.join(", ") : String(value))

  function draw() {
    const sections = new Map()
    for (const each of held.settings) {
      if (only.checked && each.origin === "default") continue
      const name = each.key.split(".").slice(0, -1).join(".")
      sections.set(name, [...(sections.get(name) ?? []), each])
    }
    fill(out, h("p", { class: "soft" }, held.file ? ["read from ", h("code", {}, held.file)] : "no configuration file; defaults and the environment hold"),
      !sections.size && h("p", { class: "empty" }, "Nothing was changed."),
      [...sections].map(([name, rows]) => h("section", { class: "panel scroll" }, h("h2", {}, name), h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ["setting", "value", "from"].map(each => h("th", {}, each)))),
        h("tbody", {}, rows.map(each => h("tr", {}, h("td", { class: "mono" }, each.key.split(".").pop()), h("td", {}, shown(each.value)),
          h("td", { class: each.origin === "default" ? "quiet" : "ok" }, each.origin, each.place && each.origin === "environment" && h("span", { class: "mono small quiet" }, ` ${each.place}`)))))))))
  }

  only.addEventListener("change", draw)
  get("/settings").then(found => { held = found; draw() }).catch(error => fill(out, failure(error)))
  return { element }
}
