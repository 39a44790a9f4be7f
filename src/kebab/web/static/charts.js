// Charts as SVG of our own: lines over days, intervals, wins and losses, a graph of causes.

import { h } from "./dom.js"

const W = 520

const svg = (height, label, ...children) =>
  h("svg", { class: "chart", viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": label }, ...children)

/** One or two lines over labelled steps; values lie in [0, 1]. */
export function lines(points, { series, label }) {
  const [left, top, height] = [34, 10, 130]
  const x = index => left + (points.length < 2 ? (W - left) / 2 : (index * (W - left - 12)) / (points.length - 1))
  const y = value => top + (1 - value) * height
  const grid = [0, 0.5, 1].map(value => [
    h("line", { class: "axis", x1: left, x2: W, y1: y(value), y2: y(value) }),
    h("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, `${value * 100}%`),
  ])
  const drawn = series.map((name, number) => {
    const path = points.map((point, index) => `${index ? "L" : "M"}${x(index).toFixed(1)} ${y(point[name]).toFixed(1)}`).join("")
    return [
      !number && points.length > 1 && h("path", { class: "area", d: `${path}L${x(points.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z` }),
      h("path", { class: number ? "line second" : "line", d: path }),
      !number && points.map((point, index) => h("circle", { class: "dot", cx: x(index), cy: y(point[name]), r: 3 }, h("title", {}, `${point.label}: ${Math.round(point[name] * 100)} %`))),
    ]
  })
  const step = Math.max(1, Math.ceil(points.length / 6))
  const labels = points.map((point, index) => index % step === 0 && h("text", { x: x(index), y: top + height + 18, "text-anchor": index ? "middle" : "start" }, point.label))
  return svg(top + height + 24, label, grid, drawn, labels)
}

/** A value with its interval for each row; best first. */
export function intervals(rows, { label }) {
  const [left, step] = [130, 30]
  const x = value => left + value * (W - left - 60)
  const drawn = rows.map((row, index) => {
    const y = 18 + index * step
    return h("g", {},
      h("text", { class: "label", x: 0, y: y + 4 }, row.name),
      h("line", { class: "axis", x1: left, x2: x(1), y1: y, y2: y }),
      h("line", { class: "interval", x1: x(row.low), x2: Math.max(x(row.high), x(row.low) + 1), y1: y, y2: y }),
      h("circle", { class: "dot", cx: x(row.value), cy: y, r: 5 }, h("title", {}, `${Math.round(row.low * 100)} to ${Math.round(row.high * 100)} %`)),
      h("text", { x: W, y: y + 4, "text-anchor": "end" }, row.note))
  })
  return svg(rows.length * step + 8, label, drawn)
}

/** Horizontal bars for named values in [0, 1]; ``before`` draws a second, thinner one. */
export function bars(rows, { label }) {
  const [left, step] = [90, 26]
  const width = value => Math.max(0, value) * (W - left - 50)
  const drawn = rows.map((row, index) => {
    const y = index * step
    return h("g", {},
      h("text", { class: "label", x: 0, y: y + 15 }, row.name),
      h("rect", { class: "bar", x: left, y: y + 4, width: width(row.value), height: row.before === undefined ? 14 : 9, rx: 3 }),
      row.before !== undefined && h("rect", { class: "bar lost", x: left, y: y + 15, width: width(row.before), height: 4, rx: 2 }),
      h("text", { x: left + width(row.value) + 8, y: y + 15 }, row.value.toFixed(3)))
  })
  return svg(rows.length * step + 4, label, drawn)
}

/** Gains to the right, losses to the left, largest first. */
export function changes(rows, { label }) {
  const [middle, step, reach] = [W / 2, 20, W / 2 - 60]
  const most = Math.max(...rows.map(row => Math.abs(row.change)), 0.01)
  const drawn = rows.map((row, index) => {
    const length = (Math.abs(row.change) / most) * reach
    const lost = row.change < 0
    return h("g", {},
      h("rect", { class: lost ? "bar lost" : "bar", x: lost ? middle - length : middle, y: index * step + 3, width: length, height: 12, rx: 3 }, h("title", {}, row.name)),
      h("text", { x: lost ? middle + 6 : middle - 6, y: index * step + 13, "text-anchor": lost ? "start" : "end" }, row.name.length > 34 ? `${row.name.slice(0, 33)}…` : row.name))
  })
  return svg(rows.length * step + 6, label, h("line", { class: "axis", x1: middle, x2: middle, y1: 0, y2: rows.length * step + 4 }), drawn)
}

const who = run => `${run.success ? "✓" : "✗"} ${run.agent_id}`.slice(0, 20)
const what = run => (run.task_description.length > 21 ? `${run.task_description.slice(0, 20)}…` : run.task_description)

/** What led to a run (left) and what it led to (right), by distance. */
export function graph(here, causes, effects, { label, onpick }) {
  const columns = new Map([[0, [here]]])
  for (const [list, sign] of [[causes, -1], [effects, 1]])
    for (const each of list) columns.set(sign * each.distance, [...(columns.get(sign * each.distance) ?? []), each.execution])
  const keys = [...columns.keys()].sort((a, b) => a - b)
  const [width, height, gap] = [150, 44, 46]
  const most = Math.max(...[...columns.values()].map(column => column.length))
  const total = keys.length * (width + gap)
  const at = new Map()
  keys.forEach((key, column) => columns.get(key).forEach((run, row) =>
    at.set(run.id, { x: column * (width + gap), y: row * (height + 14) + ((most - columns.get(key).length) * (height + 14)) / 2, run, key })))
  const edges = [...at.values()].filter(({ run }) => run.parent && at.has(run.parent)).map(({ run, x, y }) => {
    const from = at.get(run.parent)
    const [x1, y1, y2] = [from.x + width, from.y + height / 2, y + height / 2]
    return h("path", { class: "edge", d: `M${x1} ${y1}C${x1 + gap / 2} ${y1} ${x - gap / 2} ${y2} ${x} ${y2}` })
  })
  const nodes = [...at.values()].map(({ run, x, y, key }) => h("g", {
    class: `node ${run.success ? "good" : "bad"}${key ? "" : " here"}`, transform: `translate(${x} ${y})`, tabindex: 0, role: "button",
    onclick: () => onpick(run), onkeydown: event => { if (event.key === "Enter") { event.stopPropagation(); onpick(run) } },
  }, h("rect", { width, height, rx: 8 }),
    h("text", { class: "label", x: 10, y: 18 }, who(run)),
    h("text", { x: 10, y: 34 }, what(run))))
  const tall = most * (height + 14)
  return h("svg", { class: "chart", viewBox: `-4 -4 ${Math.max(total, 480)} ${tall + 8}`, role: "group", "aria-label": label }, edges, nodes)
}
