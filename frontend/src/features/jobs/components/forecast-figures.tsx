import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Unknown } from "@/components/values/num"
import { Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import { bytes, count } from "@/lib/format"
import { type Forecast, isUpperBound } from "../report"

/** The start of Spark, which the estimate leaves out, takes longer. */
const LEAST_MS = 1_000

/** What a dry run found, as names and values; nothing before there is one. */
export function useForecastFacts(forecast: Forecast | undefined): [string, ReactNode][] {
  const { t } = useTranslation()
  const format = useFormat()
  if (!forecast) return []
  const { found, messages, damaged, refused, estimated_ms: takes, estimated_by: by } = forecast
  const isCut = found > messages
  const cut = <Unknown reason={t("forecast.cut")} />
  return [
    [t("forecast.bytes"), forecast.bytes === null ? <Unknown reason={t(isCut ? "forecast.cut" : "forecast.bytesUnknown")} /> : bytes(forecast.bytes)],
    [t("forecast.takes"), t(`forecast.by.${by}`, { time: takes < LEAST_MS ? t("forecast.underSecond") : format.duration(takes) })],
    ...(isCut ? [[t("forecast.found"), t("forecast.foundWords", { n: count(found) })] satisfies [string, ReactNode]] : []),
    ...(isUpperBound(forecast) ? [[t("forecast.counted"), t("forecast.byHash")] satisfies [string, ReactNode]] : []),
    ...(refused ? [[t("forecast.notMade"), count(refused)] satisfies [string, ReactNode]] : []),
    [t("forecast.unreadable"), damaged === null ? <Unknown reason={t("forecast.bytesUnknown")} /> : count(damaged)],
    [t("forecast.first"), isCut ? cut : <Time at={forecast.first_at} withMs />],
    [t("forecast.last"), isCut ? cut : <Time at={forecast.last_at} withMs />],
  ]
}
