import { Button } from "@mantine/core"
import { useDocumentTitle } from "@mantine/hooks"
import { IconMaximize, IconX } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import type { CSSProperties } from "react"
import { useTranslation } from "react-i18next"
import { GroupState } from "@/components/badges/group-state"
import { useFormat } from "@/hooks/use-format"
import { useKeys } from "@/hooks/use-keys"
import { useNow } from "@/hooks/use-now"
import { reachable } from "@/lib/api-client"
import type { AlertCounts, GroupSummary, Overview } from "@/lib/api-types"
import { count } from "@/lib/format"
import { live } from "@/lib/live"
import { reasonIn } from "@/lib/reasons"
import { useStore } from "@/lib/store"
import { useOverview } from "../api/get-overview"
import { useStaleAge } from "../use-freshness"
import { useWallFigures, type WallFigure } from "../use-wall-figures"
import { toggleFull, useAwake, useNewestPages } from "../wall-screen"
import { useMissingLines } from "./missing-notice"
import classes from "./wallboard.module.css"

const MOST_GROUPS = 5

interface WallboardProps {
  cluster: string
  alerts: AlertCounts | undefined
}

/** What a cluster does, for a screen that nobody touches and everybody reads from across the room. */
export function Wallboard({ cluster, alerts }: WallboardProps) {
  const { t } = useTranslation()
  const overview = useOverview(cluster).data
  const age = useStaleAge(overview?.at)
  const isAwake = useAwake()
  useNewestPages()
  useDocumentTitle(`${t("wall.title")} · Gantry`)
  const { ok } = useStore(reachable)
  return (
    <div className={classes.wall} data-old={age !== null || !ok || undefined}>
      <Head cluster={cluster} />
      <Outages overview={overview} age={age} />
      {overview ? <Board overview={overview} alerts={alerts} /> : <p className={classes.waiting}>{t("wall.waiting")}</p>}
      <Foot overview={overview} isAwake={isAwake} />
    </div>
  )
}

function Head({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const format = useFormat()
  const now = useNow()
  const leave = () => {
    if (document.fullscreenElement) void document.exitFullscreen()
    void navigate({ to: "/live" })
  }
  useKeys({ Escape: leave, f: () => void toggleFull() })
  return (
    <header className={classes.head}>
      <h1>{cluster}</h1>
      <span className={classes.clock}>{format.clock(now)}</span>
      {document.fullscreenEnabled && (
        <Button variant="default" leftSection={<IconMaximize size={15} stroke={1.6} />} onClick={() => void toggleFull()}>
          {t("wall.full")}
        </Button>
      )}
      <Button variant="default" leftSection={<IconX size={15} stroke={1.6} />} onClick={leave}>
        {t("wall.leave")}
      </Button>
    </header>
  )
}

/** What keeps the figures from being true, in letters as big as theirs. */
function Outages({ overview, age }: { overview: Overview | undefined; age: number | null }) {
  const { t } = useTranslation()
  const format = useFormat()
  const gateway = useStore(reachable)
  const now = useNow()
  const lines = useMissingLines(overview)
  return (
    <div role="status">
      {!gateway.ok ? (
        <Outage title={t("wall.offline", { age: format.duration(Math.max(1_000, now - gateway.since)) })} next={t("wall.offlineNext")} />
      ) : (
        age !== null && <Outage title={t("wall.stale", { age: format.duration(age) })} next={t("wall.staleNext")} />
      )}
      {lines.map((line) => (
        <p key={line} className={classes.missing}>
          {line}
        </p>
      ))}
    </div>
  )
}

const Outage = ({ title, next }: { title: string; next: string }) => (
  <div className={classes.outage}>
    <strong>{title}</strong>
    <span>{next}</span>
  </div>
)

function Board({ overview, alerts }: { overview: Overview; alerts: AlertCounts | undefined }) {
  const { t } = useTranslation()
  const figures = useWallFigures(overview, alerts, useNow(5_000))
  const reasons = useOwnReasons(overview)
  return (
    <>
      <dl className={classes.figures} aria-label={t("wall.figures")}>
        {figures.map((figure) => (
          <Figure key={figure.label} {...figure} />
        ))}
      </dl>
      <section className={classes.worst}>
        <h2>{t("wall.worst")}</h2>
        <ul>
          {overview.worst_groups.slice(0, MOST_GROUPS).map((group) => (
            <Trouble key={group.name} group={group} />
          ))}
        </ul>
        {reasons.map((reason) => (
          <p key={reason} className={classes.fact}>
            {t("groups.unknownBecause", { reason })}
          </p>
        ))}
        {overview.worst_groups.length === 0 && <p className={classes.none}>{t(overview.total_lag === null ? "overview.unknownWorst" : "overview.noWorst")}</p>}
      </section>
    </>
  )
}

/** Why groups are unknown, each reason once, without those that stand above everything already. */
function useOwnReasons({ worst_groups: groups, missing }: Overview): string[] {
  const { t } = useTranslation()
  const told = new Set(missing.map(({ reason }) => reason))
  const reasons = groups.slice(0, MOST_GROUPS).flatMap(({ lag, unknown_reason: reason }) => (lag === null && reason ? reason.split("; ") : []))
  return [...new Set(reasons)].filter((reason) => !told.has(reason)).map((reason) => reasonIn(t, reason))
}

function Figure({ label, value, fact, tone }: WallFigure) {
  const { t } = useTranslation()
  return (
    <div className={classes.figure} data-tone={tone} data-unknown={value === null || undefined}>
      <dt>{label}</dt>
      <dd className={classes.value} style={{ "--chars": Math.max(4, value?.length ?? 0) } as CSSProperties}>
        {value ?? <span role="img" aria-label={t("states.unknown")} className={classes.unknown}>—</span>}
      </dd>
      <dd className={classes.fact}>{fact}</dd>
    </div>
  )
}

function Trouble({ group }: { group: GroupSummary }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <li>
      <b>{group.name}</b>
      <span className={classes.state}>
        <GroupState group={group} />
      </span>
      <span className={classes.lag}>{group.lag === null ? (group.state === "unknown" ? "—" : `— ${t("states.unknown")}`) : t("wall.lag", { n: count(group.lag) })}</span>
      <span className={classes.age}>{group.time_lag_ms === null ? "—" : format.duration(group.time_lag_ms)}</span>
    </li>
  )
}

function Foot({ overview, isAwake }: { overview: Overview | undefined; isAwake: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  const socket = useStore(live.status)
  const { ok } = useStore(reachable)
  return (
    <footer className={classes.foot}>
      <span>{t(`connection.${socket.state === "open" ? "live" : ok ? "polling" : "offline"}`)}</span>
      {overview && <span>{t("wall.asOf", { at: format.clock(overview.at) })}</span>}
      {overview?.limited && <span>{t("wall.limited")}</span>}
      {!isAwake && <span>{t("wall.noWake")}</span>}
      <span>{t("wall.keys")}</span>
    </footer>
  )
}
