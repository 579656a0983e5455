import { channelsKey } from "@/hooks/use-alert-channels"

export const alertKeys = {
  all: ["alerts"] as const,
  counts: ["alerts", "counts"] as const,
  alerts: (state: string | undefined, cluster?: string) => ["alerts", "list", state ?? "open", cluster ?? ""] as const,
  alert: (id: string) => ["alerts", "one", id] as const,
  rules: ["alerts", "rules"] as const,
  silences: ["alerts", "silences"] as const,
  channels: channelsKey,
  deliveries: (filter: object) => ["alerts", "deliveries", filter] as const,
}

/** The rules are evaluated once a second; pages ask less often. */
export const ASK_EVERY_MS = 5_000
