import { useTranslation } from "react-i18next"
import { Definitions, Panel } from "@/components/layout/panel"
import type { Cluster } from "@/lib/api-types"
import { useClusterDetail, useLacking } from "@/hooks/use-ability"

/** One line for each thing that cannot be done somewhere: the same sentence as at the control that is locked. */
export function MissingAbilities({ clusters }: { clusters: Cluster[] }) {
  const { t } = useTranslation()
  return (
    <Panel title={t("abilities.title")} note={t("abilities.note")}>
      {clusters.map(({ name }) => (
        <OfCluster key={name} cluster={name} />
      ))}
    </Panel>
  )
}

function OfCluster({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const lacking = useLacking()
  const abilities = useClusterDetail(cluster).data?.capabilities ?? []
  const unknown = abilities.every(({ state }) => state === "unknown") ? abilities[0] : undefined
  if (unknown) return <Definitions items={[[cluster, lacking(unknown)]]} />
  const lines = abilities.flatMap((ability) => {
    const words = lacking(ability)
    return words === null ? [] : [[`${cluster}${t("list.comma")}${t(`abilities.names.${ability.name}`)}`, words] as [string, string]]
  })
  return <Definitions items={lines} />
}
