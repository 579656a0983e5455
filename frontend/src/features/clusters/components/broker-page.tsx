import { Link } from "@tanstack/react-router"
import { type ReactNode, useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { HeldState } from "@/components/badges/held-state"
import { CurlButton } from "@/components/code/curl-button"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Page } from "@/components/layout/page"
import { TitleBlock } from "@/components/layout/title-block"
import { ProgressRail } from "@/components/rail/rail"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { NotApplicable, Num, Unknown } from "@/components/values/num"
import { Duration } from "@/components/values/time"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import type { Broker, Overview } from "@/lib/api-types"
import { bytes, percentNumber, rate } from "@/lib/format"
import { IconCircleCheck, IconPlugConnectedX } from "@tabler/icons-react"
import { outWord, upWord, withUnknown } from "@/lib/lag"
import { reasonIn } from "@/lib/reasons"
import { useOverview } from "../api/get-overview"
import { ClusterFacts } from "./cluster-facts"
import { ForgetBroker } from "./forget-broker"

interface BrokerPageProps {
  cluster: string
  /** Leads to what else there is of the brokers. */
  tabs?: ReactNode
  /** Panels of other features, under the brokers. */
  children?: ReactNode
}

/** The brokers of a cluster: what each says of itself, and why another is silent. */
export function BrokerPage({ cluster, tabs, children }: BrokerPageProps) {
  const { t } = useTranslation()
  const overview = useOverview(cluster)
  const known = overview.data
  // While no name server answers, an empty list says nothing about the brokers.
  const reason = known?.name_server_reason ?? known?.unknown_reason ?? null
  const isUnknown = reason !== null && known?.brokers.length === 0
  return (
    <Page
      title={t("nav.broker")}
      updatedAt={overview.dataUpdatedAt}
      facts={known && !isUnknown && (known.brokers.length === 0 ? t("overview.noBroker") : t("overview.answering", { n: known.brokers_answering, count: known.brokers.length }))}
      actions={<CurlButton request={{ path: paths.overview(cluster) }} />}
    >
      {tabs}
      {known && <Figures overview={known} />}
      <QueryPanel
        query={overview}
        title={t("broker.brokers")}
        note={t("broker.note")}
        what={t("overview.failed")}
        isEmpty={({ brokers }) => brokers.length === 0}
        empty={isUnknown ? <Empty title={t("broker.unknownList")} next={reasonIn(t, reason)} /> : <Empty title={t("broker.none")} next={t("broker.noneNext")} />}
      >
        {({ brokers }) => <Brokers cluster={cluster} brokers={brokers} />}
      </QueryPanel>
      {children}
      <ClusterFacts cluster={cluster} />
    </Page>
  )
}

function Figures({ overview }: { overview: Overview }) {
  const { t } = useTranslation()
  const format = useFormat()
  const stored = overview.brokers.map(({ commit_log_bytes: size }) => size).filter((size) => size !== null)
  const unknown = overview.brokers.length - stored.length
  const total = stored.length > 0 ? stored.reduce((sum, size) => sum + size, 0) : null
  const { disk_used_ratio: disk, disk_days_to_full: days, uptime_ms: uptime } = overview
  return (
    <TitleBlock
      figures={[
        { label: t("broker.log"), value: total === null ? <Unknown /> : withUnknown(bytes(total), unknown), fact: unknown > 0 ? t("broker.unknown", { count: unknown }) : t("broker.logWords") },
        {
          label: t("overview.disk"),
          value: disk === null ? <Unknown /> : percentNumber(disk),
          unit: disk === null ? undefined : "%",
          fact: disk === null ? t("states.unknown") : days === null ? t("overview.noForecast") : days < 1 ? t("overview.fullSoon") : t("overview.fullIn", { count: Math.round(days) }),
          tone: disk !== null && disk > 0.85 ? "crit" : undefined,
        },
        { label: t("overview.in"), value: overview.in_rate === null ? <Unknown /> : rate(overview.in_rate), unit: overview.in_rate === null ? undefined : "/s" },
        { label: t(outWord(overview)), value: overview.out_rate === null ? <Unknown /> : rate(overview.out_rate), unit: overview.out_rate === null ? undefined : "/s" },
        { label: t(upWord(overview)), value: uptime === null ? <Unknown /> : format.duration(uptime) },
      ]}
    />
  )
}

const column = columnsFor<Broker>()

function Brokers({ cluster, brokers }: { cluster: string; brokers: Broker[] }) {
  const { t } = useTranslation()
  const isMissed = brokers.some(({ reachable }) => !reachable)
  const hasSlaves = brokers.some(({ role }) => role !== "master")
  const columns = useMemo(
    () => [
      column("name", t("broker.name"), { isName: true }, ({ name }) => <NameLink broker={name} />),
      column("role", t("broker.role"), { isSecondary: true, ...(!hasSlaves && { minWidth: 560 }) }, (broker) => <Role broker={broker} />),
      column("state", t("broker.state"), {}, (broker) => <State broker={broker} />),
      column("address", t("broker.address"), { isSecondary: true, minWidth: 480 }, (broker) => <span className="mono">{broker.address}</span>),
      column("version", t("broker.version"), { isSecondary: true, minWidth: 760 }, (broker) => broker.version ?? <NotApplicable />),
      column("in", t("topics.in"), { align: "end", minWidth: 640 }, (broker) => (broker.role === "slave" && broker.reachable ? <NotApplicable /> : <Num value={broker.in_rate} write={rate} reason={broker.reason} />)),
      column("out", t("broker.delivered"), { align: "end", minWidth: 640 }, (broker) => <Num value={broker.out_rate} write={rate} reason={broker.reason} />),
      ...(hasSlaves ? [column("behind", t("replicas.behind"), { align: "end", minWidth: 560 }, (broker) => <Behind broker={broker} />)] : []),
      column("log", t("broker.log"), { align: "end", ...(hasSlaves && { minWidth: 480 }) }, (broker) => <Num value={broker.commit_log_bytes} write={bytes} reason={broker.reason} />),
      column("disk", t("overview.disk"), { width: 150, minWidth: 860 }, (broker) => <ProgressRail ratio={broker.disk_used_ratio} />),
      column("ratio", "%", { align: "end" }, (broker) => <Num value={broker.disk_used_ratio} write={percentNumber} reason={broker.reason} />),
      column("up", t("overview.up"), { align: "end", isSecondary: true, minWidth: 980 }, (broker) => <Duration ms={broker.uptime_ms} />),
      ...(isMissed ? [column("forget", "", { align: "end" }, (broker) => <Forget cluster={cluster} broker={broker} all={brokers} />)] : []),
    ],
    [t, cluster, brokers, isMissed, hasSlaves],
  )
  return <DataTable natural label={t("broker.brokers")} columns={columns} rows={brokers} rowId={({ address, broker_id }) => `${address} ${broker_id}`} />
}

/** The whole broker where its master is missed; else the one process. Which replicas there are, the controllers say. */
function Forget({ cluster, broker, all }: { cluster: string; broker: Broker; all: Broker[] }) {
  const { name, address, broker_id: id, reachable, role, replica_id: replica } = broker
  if (reachable) return null
  const ofName = all.filter((each) => each.name === name)
  const isWholeMissed = ofName.every((each) => !each.reachable)
  if (isWholeMissed ? broker === ofName[0] : role === "master") return <ForgetBroker cluster={cluster} broker={name} />
  return isWholeMissed || replica !== null ? null : <ForgetBroker cluster={cluster} broker={name} process={{ id, address }} />
}

function NameLink({ broker }: { broker: string }) {
  const { t } = useTranslation()
  return (
    <Link to="/broker/$broker" params={{ broker }} title={t("replicas.open", { broker })}>
      {broker}
    </Link>
  )
}

/** Where controllers choose the master, every replica keeps its own id; else the id says who is master. */
function Role({ broker: { role, replica_id: replica, broker_id: id } }: { broker: Broker }) {
  const { t } = useTranslation()
  if (replica !== null) return t(`broker.replicaAs.${role}`, { n: replica })
  return role === "master" ? t("broker.leader") : t("broker.follower", { n: id })
}

/** What a slave lacks; a master lacks nothing of its own. */
function Behind({ broker }: { broker: Broker }) {
  const { t } = useTranslation()
  if (broker.role === "master") return <NotApplicable />
  return <Num value={broker.behind_bytes} write={bytes} reason={broker.reason ?? t(broker.held ? "replicas.held.notBehind" : "replicas.noMasterEnd")} />
}

function State({ broker }: { broker: Broker }) {
  const { t } = useTranslation()
  if (broker.held) return <HeldState held={broker.held} />
  if (broker.reachable)
    return (
      <Badge tone="quiet" icon={IconCircleCheck}>
        {t("broker.answers")}
      </Badge>
    )
  return (
    <Badge tone="crit" icon={IconPlugConnectedX}>
      {broker.reason ? reasonIn(t, broker.reason) : t("cluster.silent")}
    </Badge>
  )
}
