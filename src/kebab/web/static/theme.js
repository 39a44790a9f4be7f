// Before the first paint, so that nobody in the dark is dazzled.
(() => {
  let chosen = null
  try { chosen = localStorage.getItem("kebab.theme") } catch { /* storage may be forbidden */ }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches
  document.documentElement.dataset.theme = chosen ?? (dark ? "dark" : "light")
})()
