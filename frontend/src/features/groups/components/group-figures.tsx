import { useTranslation } from "react-i18next"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { Unknown } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import { usePhone } from "@/hooks/use-media"
import type { Group, GroupQueue } from "@/lib/api-types"
import { count, rate, signed } from "@/lib/format"
import { lagGrowth, withUnknown } from "@/lib/lag"

/** The queue whose oldest message waits longest. */
function slowest(queues: readonly GroupQueue[]): GroupQueue | undefined {
  return queues.reduce<GroupQueue | undefined>(
    (worst, queue) => ((queue.time_lag_ms ?? -1) > (worst?.time_lag_ms ?? 0) ? queue : worst),
    undefined,
  )
}

export function GroupFigures({ group }: { group: Group }) {
  const { t } = useTranslation()
  const lag = useLagFigures(group)
  const drain = useDrainFigure(group)
  const isPhone = usePhone()
  if (isPhone) return <TitleBlock figures={[...lag, { label: t("groups.inOut"), value: inOut(group), unit: "/s" }, drain]} />
  const figures: KeyFigure[] = [
    ...lag,
    {
      label: t("groups.inFull"),
      value: group.in_rate === null ? <Unknown reason={group.unknown_reason} /> : rate(group.in_rate),
      unit: group.in_rate === null ? undefined : "/s",
      fact: group.topics.join(", "),
    },
    {
      label: t("groups.outFull"),
      value: group.out_rate === null ? <Unknown reason={group.unknown_reason} /> : rate(group.out_rate),
      unit: group.out_rate === null ? undefined : "/s",
      fact: group.clients === null ? "" : t("groups.byClients", { count: group.clients }),
    },
    drain,
    {
      label: t("groups.leasesFull"),
      value: group.leases === null ? "—" : count(group.leases),
      fact: group.leases === null ? t("groups.noLeases") : t("groups.leasesWords"),
    },
  ]
  return <TitleBlock figures={figures} />
}

const inOut = ({ in_rate: inRate, out_rate: outRate }: Group): string =>
  [inRate, outRate].map((value) => (value === null ? "—" : rate(value))).join(" / ")

function useLagFigures(group: Group): KeyFigure[] {
  const { t } = useTranslation()
  const format = useFormat()
  const unknown = group.queues.filter(({ lag }) => lag === null).length
  const growth = lagGrowth(group)
  const worst = slowest(group.queues)
  const tone = group.state === "growing" ? ("warn" as const) : undefined
  const facts = [
    growth !== null && Math.round(growth) !== 0 ? `${signed(growth)}/s` : "",
    unknown > 0 ? t("groups.unknownQueues", { count: unknown }) : "",
  ].filter(Boolean)
  return [
    {
      label: t("groups.lag"),
      value: group.lag === null ? <Unknown reason={group.unknown_reason} /> : withUnknown(count(group.lag), unknown),
      fact: group.lag === null ? group.unknown_reason : facts.length > 0 ? facts.join(t("list.comma")) : t("groups.steady"),
      tone,
    },
    {
      label: t("groups.timeLag"),
      value: group.time_lag_ms === null ? "—" : format.duration(group.time_lag_ms),
      fact: worst ? t("groups.atQueue", { queue: worst.queue_id, client: worst.client ?? t("groups.noClient") }) : t("groups.caughtUp"),
      tone,
    },
  ]
}

function useDrainFigure(group: Group): KeyFigure {
  const { t } = useTranslation()
  const format = useFormat()
  const { drain_eta_ms: eta, lag } = group
  const label = t("groups.drainFull")
  if (lag === 0) return { label, value: "—", fact: t("groups.nothingToDrain") }
  if (eta === null) return { label, value: "—", fact: lag === null ? t("states.unknown") : t("groups.slower") }
  return { label, value: format.duration(eta), fact: t("groups.atThisRate") }
}
