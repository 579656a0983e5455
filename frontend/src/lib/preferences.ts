import { createStoredStore } from "@/lib/store"

export type Density = "comfortable" | "standard" | "compact"
export type Language = "en" | "zh"

/** How often what is shown moves; "live" is as soon as it changes, "off" only when it is asked for. */
export const REFRESHES = ["live", "5s", "30s", "off"] as const
export type Refresh = (typeof REFRESHES)[number]
const LEAST_MS: Record<Refresh, number> = { live: 0, "5s": 5_000, "30s": 30_000, off: Infinity }

/** Choices of this browser; an address may overrule the zone. */
export const zonePreference = createStoredStore("gantry.zone", "browser")
export const densityPreference = createStoredStore<Density>("gantry.density", "standard")
export const languagePreference = createStoredStore<Language | null>("gantry.language", null)
export const pinnedTopics = createStoredStore<string[]>("gantry.pins", [])
export const pinnedGroups = createStoredStore<string[]>("gantry.pins.groups", [])
export const hiddenColumns = createStoredStore<Record<string, string[]>>("gantry.columns", {})
export const refreshPreference = createStoredStore<Refresh>("gantry.refresh", "live")

/** The least time between two changes of what is shown, ms; a choice that is not known is live. */
export const leastRefreshMs = (): number => LEAST_MS[refreshPreference.get()] ?? 0
