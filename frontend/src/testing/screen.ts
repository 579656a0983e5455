import { onTestFinished } from "vitest"

/** A screen of a phone, until the test ends. */
export function onPhone(): void {
  const wide = window.matchMedia
  window.matchMedia = (query) => ({ ...wide(query), matches: query.includes("max-width") })
  onTestFinished(() => {
    window.matchMedia = wide
  })
}
