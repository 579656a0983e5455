import type { ControllerState } from "@/lib/api-types"

export interface EngineServer {
  endpoint: string
  /** The controllers that do not reach it. */
  missedBy: string[]
  /** Since when the first of them does not. */
  since: string | null
  /** Whether any controller tried it. */
  isTried: boolean
}

/** The servers of the engine by address, each by what all controllers say of it. */
export function engineServers(controllers: readonly ControllerState[]): EngineServer[] {
  const found = new Map<string, EngineServer>()
  for (const { address, members } of controllers)
    for (const { endpoint, reached, since } of members) {
      const server = found.get(endpoint) ?? { endpoint, missedBy: [], since: null, isTried: false }
      found.set(endpoint, server)
      server.isTried ||= reached !== null
      if (reached !== false) continue
      server.missedBy.push(address)
      if (since !== null && (server.since === null || Date.parse(since) < Date.parse(server.since))) server.since = since
    }
  return [...found.values()].sort((one, other) => one.endpoint.localeCompare(other.endpoint))
}
