// A note as the server rendered it, with the cited lines marked.

import { h } from "./dom.js"

/** The lines of a chunk in the text that is shown; files without lines of their own have them too. */
export function chunkLines(view, id) {
  const spans = view.inspection.chunks.find(chunk => chunk.chunk_id === id)?.source_spans ?? []
  return spans.length ? `${spans[0].start}-${spans.at(-1).end}` : null
}

/** ``show`` brings the cited lines into view inside a scroller, or in the window. */
export function noteView(view, { lines } = {}) {
  const element = h("div", { class: "prose", lang: view.inspection.document.lang })
  // The server wrote this HTML itself from the parser's events; nothing in it comes from a note unescaped.
  element.innerHTML = view.html
  const cited = lines ? mark(element, ...lines.split("-").map(Number)) : []
  return {
    element,
    cited,
    show(scroller) {
      const first = cited[0]
      if (!first) { if (scroller) scroller.scrollTop = 0; return }
      if (scroller) scroller.scrollTop = Math.max(0, first.offsetTop - scroller.offsetTop - 60)
      else first.scrollIntoView({ block: "center" })
    },
  }
}

/** Mark the smallest blocks that show these lines: items rather than their list. */
function mark(element, start, end = start) {
  const touches = block => {
    const [from, to] = block.dataset.lines.split("-").map(Number)
    return from <= end && to >= start
  }
  const blocks = [...element.querySelectorAll("[data-lines]")].filter(touches)
  const whole = block => {
    const [from, to] = block.dataset.lines.split("-").map(Number)
    return from >= start && to <= end
  }
  const chosen = blocks.filter(block => whole(block) && !blocks.some(other => other !== block && other.contains(block) && whole(other)))
  const parts = blocks.filter(block => !block.querySelector("[data-lines]") && !chosen.some(other => other.contains(block)))
  for (const block of [...chosen, ...parts]) block.classList.add("cited")
  return [...element.querySelectorAll(".cited")]
}
