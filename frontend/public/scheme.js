// Sets the colour scheme before the first paint, and says whether the page has bars; the same key is used by Mantine.
(function () {
  let chosen = null
  try {
    chosen = localStorage.getItem("gantry.theme")
  } catch {
    // A browser that forbids storage follows the system.
  }
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light")
  document.documentElement.toggleAttribute("data-bare", /\/(login|live\/wallboard)$/.test(location.pathname))
})()
