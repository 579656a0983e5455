import { Menu } from "@mantine/core"
import { IconPlugConnectedX, IconSelector } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { useClusters } from "@/features/clusters/api/get-clusters"
import { useOverview } from "@/features/clusters/api/get-overview"
import { isPartly } from "@/features/clusters/partly"
import { withLive } from "@/features/clusters/with-live"
import { LOCAL_CLUSTER, useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"
import type { Cluster } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import classes from "./shell.module.css"

/** Which cluster the console looks at; part of the address. */
export function ClusterMenu() {
  const current = useCluster()
  const { data: clusters = [] } = useClusters()
  const [, change] = useUrlState()
  const { t } = useTranslation()
  const describe = useDescription()
  const live = useOverview(current).data
  const listed = clusters.find(({ name }) => name === current)
  const known = listed && withLive(listed, live)
  return (
    <Menu position="bottom-start" width={230}>
      <Menu.Target>
        <button type="button" className={classes.cluster} title={known ? `${current}\n${describe(known)}` : current}>
          <span>
            <b>{current}</b>
            <small>{known ? (known.reachable === false ? t("cluster.silent") : describe(known)) : "\u00a0"}</small>
          </span>
          <b className={classes.initial} aria-hidden>
            {current.slice(0, 1).toUpperCase()}
          </b>
          <IconSelector size={15} stroke={1.6} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {clusters.map((each) => (each === listed && known ? known : each)).map((cluster) => (
          <Menu.Item
            key={cluster.name}
            onClick={() => change({ cluster: cluster.name === LOCAL_CLUSTER ? undefined : cluster.name }, { push: true })}
            rightSection={cluster.reachable !== false ? undefined : <IconPlugConnectedX size={15} color="var(--warn)" />}
          >
            {cluster.name}
            <div className="micro">{describe(cluster)}</div>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function useDescription() {
  const { t } = useTranslation()
  return (cluster: Cluster): string => {
    const { kind, brokers, version, reachable, reason } = cluster
    if (!reachable) return reason ? reasonIn(t, reason) : t(reachable === null ? "states.unknown" : "cluster.silent")
    if (reason) return isPartly(cluster) ? t("overview.answering", { n: cluster.brokers_answering, count: brokers ?? 0 }) : t("cluster.noNameServer")
    if (kind === "embedded") return t("cluster.embedded")
    const name = version ? `RocketMQ ${version}` : "RocketMQ"
    return brokers === null ? name : `${t("cluster.brokers", { count: brokers })} · ${name}`
  }
}
