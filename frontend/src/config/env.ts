/** What the page knows about where it runs; checked once at the start. */
export const env = {
  origin: window.location.origin,
  liveUrl: `${window.location.protocol === "https:" ? "wss" : "ws"}://${window.location.host}/ws/v1/events`,
  version: "0.1.0",
} as const
