const base = document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? ""

const sockets = `${window.location.protocol === "https:" ? "wss" : "ws"}://${window.location.host}${base}/ws/v1`

/** What the page knows about where it runs; read once at the start. */
export const env = {
  /** The path before all others behind a proxy, such as "/gantry"; empty for none. */
  base,
  origin: window.location.origin,
  liveUrl: `${sockets}/events`,
  tailUrl: `${sockets}/tail`,
  version: "0.1.0",
} as const
