import { useTranslation } from "react-i18next"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { Unknown } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import { usePhone } from "@/hooks/use-media"
import type { Overview } from "@/lib/api-types"
import { count, percentNumber, rate, signed } from "@/lib/format"
import { lagGrowth, withUnknown } from "@/lib/lag"

/** The strip: what the cluster does, in seven numbers. */
export function OverviewFigures({ overview }: { overview: Overview }) {
  const { t } = useTranslation()
  const lag = useLagFigures(overview)
  const machine = useMachineFigures(overview)
  const rates: KeyFigure[] = [
    {
      label: t("overview.in"),
      value: written(overview.in_rate, rate),
      unit: unitOf(overview.in_rate, "/s"),
      fact: overview.topics === null ? "" : t("overview.topics", { count: overview.topics }),
    },
    {
      label: t("overview.out"),
      value: written(overview.out_rate, rate),
      unit: unitOf(overview.out_rate, "/s"),
      fact: t("overview.allGroups"),
    },
  ]
  const rest: KeyFigure[] = [
    {
      label: t("overview.deadLetters"),
      value: written(overview.dead_letters, count),
      fact: overview.dead_letter_groups ? t("overview.groups", { count: overview.dead_letter_groups }) : t("overview.noGroup"),
    },
    ...machine,
  ]
  // On a phone one reads lag; what came in and out is further down.
  const figures = usePhone() ? [...lag, ...rates, ...rest] : [...rates, ...lag, ...rest]
  return <TitleBlock figures={figures} />
}

function useLagFigures(overview: Overview): KeyFigure[] {
  const { t } = useTranslation()
  const format = useFormat()
  const growing = overview.worst_groups.filter(({ state }) => state === "growing")
  const growth = growing.reduce((sum, group) => sum + (lagGrowth(group) ?? 0), 0)
  const unknown = overview.lag_unknown_groups
  const tone = growing.length > 0 ? ("warn" as const) : undefined
  const facts = [
    growing.length > 0 ? (growth > 0 ? `${signed(growth)}/s` : t("overview.growing", { count: growing.length })) : "",
    unknown > 0 ? t("overview.unknownGroups", { count: unknown }) : "",
  ].filter(Boolean)
  return [
    {
      label: t("overview.totalLag"),
      value: overview.total_lag === null ? <Unknown /> : withUnknown(count(overview.total_lag), unknown),
      fact: facts.length > 0 ? facts.join(t("list.comma")) : t("overview.messages"),
      tone,
    },
    {
      label: t("overview.oldest"),
      value: overview.oldest_unconsumed_ms === null ? "—" : format.duration(overview.oldest_unconsumed_ms),
      fact: overview.oldest_group ?? t("overview.nothingWaits"),
      tone,
    },
  ]
}

function useMachineFigures(overview: Overview): KeyFigure[] {
  const { t } = useTranslation()
  const format = useFormat()
  const { disk_used_ratio: disk, disk_days_to_full: days, uptime_ms: uptime, brokers, brokers_answering: answering } = overview
  return [
    {
      label: t("overview.disk"),
      value: written(disk, percentNumber),
      unit: unitOf(disk, "%"),
      fact: days === null ? t("overview.noForecast") : t("overview.fullIn", { count: Math.round(days) }),
      tone: disk !== null && disk > 0.85 ? "crit" : undefined,
    },
    {
      label: t("overview.up"),
      value: uptime === null ? <Unknown /> : format.duration(uptime),
      fact: t("overview.answering", { n: answering, count: brokers.length }),
      tone: answering < brokers.length ? "crit" : undefined,
    },
  ]
}

const written = (value: number | null, write: (value: number) => string) => (value === null ? <Unknown /> : write(value))
const unitOf = (value: number | null, unit: string) => (value === null ? undefined : unit)
