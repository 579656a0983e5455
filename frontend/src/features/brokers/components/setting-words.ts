import { useTranslation } from "react-i18next"
import type { BrokerSetting } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"

/** What a setting means in words; empty for one that Gantry does not know. */
export function useMeaning(): (name: string) => string {
  const { t } = useTranslation()
  return (name) => {
    if (/^limit[A-Z]/.test(name)) return t("brokers.limit")
    return t(`brokers.meanings.${name}` as "brokers.meanings.deleteWhen", { defaultValue: "" })
  }
}

/** A value with its unit; a size also in the words of people. */
export function useValue(): (value: string, unit: BrokerSetting["unit"]) => string {
  const { t } = useTranslation()
  return (value, unit) => {
    if (unit === null || !/^\d+$/.test(value)) return value === "" ? "\u2014" : value
    return unit === "bytes" ? bytes(Number(value)) : `${count(Number(value))} ${t(`brokers.units.${unit}`)}`
  }
}
