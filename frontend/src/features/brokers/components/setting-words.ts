import { useTranslation } from "react-i18next"
import type { BrokerSetting } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"

/** What a setting means in words; empty for one that Gantry does not know. */
export function useMeaning(): (name: string) => string {
  const { t } = useTranslation()
  return (name) => t(`brokers.meanings.${name}` as "brokers.meanings.deleteWhen", { defaultValue: "" })
}

/** A value with its unit; a size also in the words of people. A port is no count, and settings that Gantry does not know may be one. */
export function useValue(): (value: string, unit: BrokerSetting["unit"], isKnown?: boolean) => string {
  const { t } = useTranslation()
  return (value, unit, isKnown = true) => {
    if (unit === null && isKnown && /^[1-9]\d{3,}$/.test(value)) return count(Number(value))
    if (unit === null || !/^\d+$/.test(value)) return value === "" ? "\u2014" : value
    return unit === "bytes" ? bytes(Number(value)) : `${count(Number(value))} ${t(`brokers.units.${unit}`)}`
  }
}
