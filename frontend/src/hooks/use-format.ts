import { useSearch } from "@tanstack/react-router"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { axisDuration, duration, milliseconds } from "@/lib/format"
import { type Language, zonePreference } from "@/lib/preferences"
import { useStore } from "@/lib/store"
import { clock, everyForm, isZone, when, zoneLabel } from "@/lib/time"

export function useLanguage(): Language {
  const { i18n } = useTranslation()
  return i18n.language.startsWith("zh") ? "zh" : "en"
}

/** The zone of the address, else the one chosen in this browser. */
export function useZone(): string {
  const fromAddress = useSearch({ strict: false }).zone
  const preferred = useStore(zonePreference)
  return fromAddress && (fromAddress === "browser" || isZone(fromAddress)) ? fromAddress : preferred
}

const asMs = (at: string | number) => (typeof at === "number" ? at : Date.parse(at))

/** Writers of durations and times in the chosen language and zone. */
export function useFormat() {
  const language = useLanguage()
  const zone = useZone()
  return useMemo(
    () => ({
      language,
      zone,
      zoneLabel: (at?: number) => zoneLabel(zone, at),
      duration: (ms: number) => duration(ms, language),
      milliseconds: (ms: number) => milliseconds(ms, language),
      axisDuration: (ms: number) => axisDuration(ms, language),
      when: (at: string | number, withMs = false) => when(asMs(at), { zone, language, withMs }),
      clock: (at: string | number, withMs = false) => clock(asMs(at), zone, { withMs }),
      everyForm: (at: string | number) => everyForm(asMs(at), zone),
    }),
    [language, zone],
  )
}
