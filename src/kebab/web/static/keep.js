// What this browser remembers: recent and saved searches. Nothing of it is sent anywhere.

const read = name => {
  try { return JSON.parse(localStorage.getItem(`kebab.${name}`)) ?? [] } catch { return [] }
}
const write = (name, value) => {
  try { localStorage.setItem(`kebab.${name}`, JSON.stringify(value)) } catch { /* not kept then */ }
}

const same = (a, b) => a.href === b.href

export const recent = () => read("recent")
export const saved = () => read("saved")
export const isSaved = entry => saved().some(each => same(each, entry))

/** A search that was rested on. One that the new one begins with was only typed through. */
export function remember(entry) {
  const rest = recent().filter(each => !same(each, entry) && !entry.text.startsWith(each.text))
  write("recent", [entry, ...rest].slice(0, 20))
}

export function toggleSaved(entry) {
  const others = saved().filter(each => !same(each, entry))
  write("saved", others.length === saved().length ? [entry, ...others] : others)
}

export const forget = () => write("recent", [])
