import { Button } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { NeedsRight } from "@/components/forms/lock"
import { Page } from "@/components/layout/page"
import { TitleBlock } from "@/components/layout/title-block"
import { QueryPanel } from "@/components/states/query-panel"
import { Unknown } from "@/components/values/num"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { useUrlState } from "@/hooks/use-url-state"
import type { Cluster } from "@/lib/api-types"
import { count } from "@/lib/format"
import { withUnknown } from "@/lib/lag"
import { useClusters } from "../api/get-clusters"
import { isPartly } from "../partly"
import { ClusterForm } from "./cluster-form"
import { ClustersTable } from "./clusters-table"
import { MissingAbilities } from "./missing-abilities"

/** Every cluster that the console knows, and what each can do. */
export function ClustersPage() {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const clusters = useClusters(POLL_MS)
  const edited = clusters.data?.find(({ name }) => name === state.edit)
  const close = () => change({ new: undefined, edit: undefined })
  const form = state.new ? <ClusterForm onClose={close} /> : edited && <ClusterForm key={edited.name} cluster={edited} onClose={close} />
  return (
    <DockedPage drawer={form}>
      <Page
        title={t("nav.clusters")}
        facts={clusters.data && <Facts clusters={clusters.data} />}
        actions={
          <>
            <CurlButton request={{ path: paths.clusters }} />
            <NeedsRight right="admin">
              <Button variant="filled" leftSection={<IconPlus size={15} stroke={1.6} />} onClick={() => change({ new: "cluster", edit: undefined })}>
                {t("clusters.add")}
              </Button>
            </NeedsRight>
          </>
        }
      >
        {clusters.data && <Figures clusters={clusters.data} />}
        <QueryPanel query={clusters} what={t("clusters.failed")}>
          {(all) => <ClustersTable clusters={all} />}
        </QueryPanel>
        {clusters.data && <MissingAbilities clusters={clusters.data} />}
      </Page>
    </DockedPage>
  )
}

function Facts({ clusters }: { clusters: Cluster[] }) {
  const { t } = useTranslation()
  if (clusters.every(({ reachable }) => reachable === null)) return t("clusters.unknown", { count: clusters.length })
  return t("clusters.facts", { count: clusters.length, answering: count(clusters.filter(answers).length) })
}

/** Where brokers answer and no name server does, clients find nothing: the cluster does not answer as a whole. */
const answers = (cluster: Cluster) => cluster.reachable === true && (cluster.reason === null || isPartly(cluster))

/** Sums over clusters say how many clusters are not in them. */
function Figures({ clusters }: { clusters: Cluster[] }) {
  const { t } = useTranslation()
  const known = clusters.filter(({ reachable }) => reachable)
  const whole = clusters.filter(answers).length
  const unasked = clusters.filter(({ reachable }) => reachable === null).length
  const silent = clusters.length - known.length
  const brokers = known.reduce((sum, cluster) => sum + (cluster.brokers ?? 0), 0)
  return (
    <TitleBlock
      figures={[
        { label: t("clusters.answering"), value: unasked === clusters.length ? <Unknown reason={clusters[0]?.reason} /> : withUnknown(count(whole), unasked), fact: t("clusters.of", { n: count(clusters.length) }), tone: whole + unasked < clusters.length ? "crit" : undefined },
        { label: t("broker.brokers"), value: known.length === 0 ? <Unknown reason={clusters[0]?.reason} /> : withUnknown(count(brokers), silent), fact: silent > 0 ? t("clusters.unknown", { count: silent }) : t("clusters.listed") },
      ]}
    />
  )
}
