import { Button } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { IconCircleCheck, IconPlugConnectedX } from "@tabler/icons-react"
import { Badge } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { NeedsRight } from "@/components/forms/lock"
import { Unknown } from "@/components/values/num"
import { LOCAL_CLUSTER, useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"
import type { Cluster } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import { isPartly } from "../partly"
import { AbilityMark } from "./ability-mark"
import { DeleteCluster } from "./delete-cluster"
import classes from "./clusters-page.module.css"

const column = columnsFor<Cluster>()
const SHOWN = ["lease", "transaction", "timer", "sql", "replicas"] as const

/** One row per cluster; choosing one makes every page show it. */
export function ClustersTable({ clusters }: { clusters: Cluster[] }) {
  const { t } = useTranslation()
  const current = useCluster()
  const [, change] = useUrlState()
  const columns = useMemo(
    () => [
      column("name", t("clusters.cluster"), { isName: true }, (cluster) => <Name cluster={cluster} />),
      column("state", t("broker.state"), {}, (cluster) => <State cluster={cluster} />),
      ...SHOWN.map((name) => column(name, t(`abilities.names.${name}`), { minWidth: 720 }, (cluster) => <AbilityMark cluster={cluster.name} name={name} />)),
      column("edit", "", { align: "end" }, (cluster) => cluster.kind === "rocketmq" && <Acts cluster={cluster} />),
    ],
    [t],
  )
  return (
    <DataTable
      natural
      label={t("nav.clusters")}
      columns={columns}
      rows={clusters}
      rowId={({ name }) => name}
      selectedId={current}
      rowHeight={48}
      onRow={({ name }) => change({ cluster: name === LOCAL_CLUSTER ? undefined : name })}
    />
  )
}

function Name({ cluster: { name, kind, version, brokers, name_servers: servers, same_brokers: same } }: { cluster: Cluster }) {
  const { t } = useTranslation()
  const product = kind === "embedded" ? t("cluster.embedded") : version ? `RocketMQ ${version}` : "RocketMQ"
  return (
    <span className={classes.name} title={servers.join("\n")}>
      {name}
      <small>{brokers === null ? product : `${product} · ${t("cluster.brokers", { count: brokers })}`}</small>
      {same.length > 0 && <small>{t("clusters.sameAs", { clusters: same.map(({ cluster }) => cluster).join(t("list.comma")) })}</small>}
    </span>
  )
}

function State({ cluster }: { cluster: Cluster }) {
  const { t } = useTranslation()
  const { reachable, reason } = cluster
  if (reachable && reason)
    return (
      <span title={reasonIn(t, reason)}>
        <Badge tone="warn" icon={IconPlugConnectedX}>
          {isPartly(cluster) ? t("overview.answering", { n: cluster.brokers_answering, count: cluster.brokers ?? 0 }) : t("cluster.noNameServer")}
        </Badge>
      </span>
    )
  if (reachable)
    return (
      <Badge tone="quiet" icon={IconCircleCheck}>
        {t("broker.answers")}
      </Badge>
    )
  if (reachable === null) return <Unknown reason={reason} />
  return (
    <span title={reason ? reasonIn(t, reason) : undefined}>
      <Badge tone="crit" icon={IconPlugConnectedX}>
        {t("cluster.silent")}
      </Badge>
    </span>
  )
}

function Acts({ cluster }: { cluster: Cluster }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  return (
    <span className={classes.acts}>
      <NeedsRight right="admin">
        <Button size="xs" variant="subtle" aria-label={t("clusters.editNamed", { name: cluster.name })} onClick={() => change({ edit: cluster.name, new: undefined })}>
          {t("clusters.edit")}
        </Button>
      </NeedsRight>
      <DeleteCluster name={cluster.name} />
    </span>
  )
}
