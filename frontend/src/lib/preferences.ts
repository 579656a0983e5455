import { createStoredStore } from "@/lib/store"

export type Density = "comfortable" | "standard" | "compact"
export type Language = "en" | "zh"

/** Choices of this browser; an address may overrule the zone. */
export const zonePreference = createStoredStore("gantry.zone", "browser")
export const densityPreference = createStoredStore<Density>("gantry.density", "standard")
export const languagePreference = createStoredStore<Language | null>("gantry.language", null)
export const pinnedTopics = createStoredStore<string[]>("gantry.pins", [])
export const hiddenColumns = createStoredStore<Record<string, string[]>>("gantry.columns", {})
