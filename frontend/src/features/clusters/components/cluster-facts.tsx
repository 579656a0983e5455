import { useTranslation } from "react-i18next"
import { Definitions, Panel } from "@/components/layout/panel"
import { Unknown } from "@/components/values/num"
import { useClusterDetail } from "@/hooks/use-ability"
import { reasonIn } from "@/lib/reasons"
import { useClusters } from "../api/get-clusters"
import { useOverview } from "../api/get-overview"
import { withLive } from "../with-live"

/** What is known of the cluster as a whole. */
export function ClusterFacts({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const listed = useClusters().data?.find(({ name }) => name === cluster)
  const live = useOverview(cluster).data
  if (!listed) return null
  const known = withLive(listed, live)
  return (
    <Panel title={t("broker.cluster")} note={known.name}>
      <Definitions
        items={[
          [t("broker.kind"), known.kind === "embedded" ? t("broker.kinds.embedded") : <Product cluster={known.name} />],
          [t("machine.nameServer"), <span className="mono">{known.name_servers.join(t("list.comma"))}</span>],
          [t("broker.version"), known.version ?? <Unknown reason={known.reason} />],
          [t("broker.state"), known.reason ? reasonIn(t, known.reason) : t(known.reachable ? "broker.answers" : "cluster.silent")],
        ]}
      />
    </Panel>
  )
}

/** Whose brokers they are, told by what only those of Gantry can do. */
function Product({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const purge = useClusterDetail(cluster).data?.capabilities.find(({ name }) => name === "purge")
  return !purge || purge.state === "unknown" ? <Unknown reason={purge?.reason ?? null} /> : t(`broker.kinds.${purge.state}`)
}
