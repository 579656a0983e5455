const ADDRESS = /^(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/

export const MOST_NAME_SERVERS = 16

/** Whether a text is `host:port` as the API takes it. */
export function isAddress(text: string): boolean {
  const port = Number(ADDRESS.exec(text)?.[1] ?? 0)
  return port >= 1 && port <= 65_535
}
