import { Link } from "@tanstack/react-router"
import type { TFunction } from "i18next"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Sparkline } from "@/components/charts/sparkline"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { LastKnown } from "@/components/values/last-known"
import { useFormat } from "@/hooks/use-format"
import { useFrozenOrder } from "@/hooks/use-frozen-order"
import type { GroupSummary, Overview } from "@/lib/api-types"
import { count, signed } from "@/lib/format"
import { isGrowing, isPaused, lagGrowth } from "@/lib/lag"
import { reasonIn } from "@/lib/reasons"
import { useOverviewHistory } from "../api/get-overview-history"
import classes from "./clusters.module.css"

/** The groups one should look at first, with how their lag moved in the last 15 minutes. */
export function WorstGroups({ cluster, overview }: { cluster: string; overview: Overview }) {
  const { t } = useTranslation()
  const history = useOverviewHistory(cluster, "15m").data
  // The worst stand first, but no row moves away under the pointer or the focus.
  const [isHeld, setHeld] = useState(false)
  const worst = overview.worst_groups
  const groups = useFrozenOrder(worst, isHeld ? `${cluster} held` : `${cluster} ${worst.map(({ name }) => name).join(" ")}`) ?? []
  return (
    <Panel
      title={t("overview.worst")}
      actions={<Link to="/groups">{overview.groups === null ? t("overview.all") : t("overview.allN", { n: count(overview.groups) })}</Link>}
    >
      <div onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)} onFocus={() => setHeld(true)} onBlur={() => setHeld(false)}>
        {groups.map((group) => (
          <Row key={group.name} group={group} values={history?.group_lag[group.name] ?? []} />
        ))}
      </div>
      {groups.length === 0 &&
        (overview.total_lag === null ? (
          <Empty small title={t("overview.unknownWorst")} next={t(overview.brokers_answering > 0 ? "overview.unknownWorstNext" : "overview.noBrokerAnswers")} />
        ) : (
          <Empty small title={t("overview.noWorst")} next={t("overview.noWorstNext")} />
        ))}
    </Panel>
  )
}

/** What the lag was, while it is not known. */
function LagUnknown({ group: { last_known: last, unknown_reason: reason } }: { group: GroupSummary }) {
  const was = last?.lag ?? null
  return (
    <LastKnown at={last?.at} reason={reason}>
      {was === null ? undefined : count(was)}
    </LastKnown>
  )
}

function pausedWords(t: TFunction, group: GroupSummary): string[] {
  if (isPaused(group)) return [t("groupStates.paused")]
  return group.delivery === "partly_paused" ? [t("groupStates.partlyPaused")] : []
}

function Row({ group, values }: { group: GroupSummary; values: readonly (number | null)[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const isWarm = isGrowing(group)
  const growth = lagGrowth(group)
  return (
    <Link to="/groups/$group" params={{ group: group.name }} className={classes.row}>
      <span className={classes.name} data-narrow={group.lag === null || undefined}>{group.name}</span>
      <span className={classes.number} data-wide={group.lag === null || undefined}>{group.lag === null ? <LagUnknown group={group} /> : count(group.lag)}</span>
      {group.lag === null ? (
        <small className={classes.whole}>{t("groups.unknownBecause", { reason: group.unknown_reason ? reasonIn(t, group.unknown_reason) : t("states.unknown") })}</small>
      ) : (
        <>
          <small>{[...pausedWords(t, group), group.topics.join(t("list.comma"))].join(" · ")}</small>
          <Sparkline values={values} tone={isWarm ? "growing" : "normal"} base={100} />
          <small data-end data-warm={isWarm || undefined}>
            {growth === null || Math.round(growth) === 0 ? "" : `${signed(growth)}/s`}
          </small>
          <small data-end>{group.time_lag_ms === null ? "" : format.duration(group.time_lag_ms)}</small>
        </>
      )}
    </Link>
  )
}
