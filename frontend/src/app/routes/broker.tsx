import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { currentTab, TabBar } from "@/components/layout/tab-bar"
import { AccountsPage } from "@/features/broker-accounts/components/accounts-page"
import type { BrokerProcess } from "@/features/brokers/broker-process"
import { BrokerSettings, SettingDrawer } from "@/features/brokers/components/broker-settings"
import { ControllersPanel } from "@/features/brokers/components/controllers-panel"
import { useOverview } from "@/features/clusters/api/get-overview"
import { BrokerPage } from "@/features/clusters/components/broker-page"
import { useCluster } from "@/hooks/use-cluster"
import { useMay } from "@/hooks/use-rights"
import { useUrlState } from "@/hooks/use-url-state"

/** The brokers, and for administrators who may use them. */
export function BrokerRoute() {
  const { t } = useTranslation()
  const cluster = useCluster()
  const [state] = useUrlState()
  // Without the right there is nothing behind the second tab.
  if (!useMay("admin")) return <Brokers cluster={cluster} />
  const all = [{ id: "brokers", label: t("brokerAccounts.brokersTab") }, { id: "accounts", label: t("brokerAccounts.tab") }]
  const tabs = <TabBar tabs={all} />
  return currentTab(all, state.tab) === "accounts" ? <Accounts cluster={cluster} tabs={tabs} /> : <Brokers cluster={cluster} tabs={tabs} />
}

function Accounts({ cluster, tabs }: { cluster: string; tabs: ReactNode }) {
  const brokers = useOverview(cluster).data?.brokers.filter(({ reachable }) => reachable)
  return <AccountsPage cluster={cluster} answering={brokers?.map(({ name, address }) => `${name} ${address}`).sort().join("\n")} tabs={tabs} />
}

/** The brokers, and the settings of one that answers. */
function Brokers({ cluster, tabs }: { cluster: string; tabs?: ReactNode }) {
  const brokers = useProcessesThatAnswer(cluster)
  const isAsked = brokers.length > 0
  return (
    <DockedPage drawer={isAsked && <SettingDrawer cluster={cluster} brokers={brokers} />}>
      <BrokerPage cluster={cluster} tabs={tabs}>
        <ControllersPanel cluster={cluster} />
        {isAsked && <BrokerSettings cluster={cluster} brokers={brokers} />}
      </BrokerPage>
    </DockedPage>
  )
}

/** Only these can be asked for their settings; why another is silent stands in its row. */
function useProcessesThatAnswer(cluster: string): BrokerProcess[] {
  const all = useOverview(cluster).data?.brokers ?? []
  return all.filter(({ reachable }) => reachable).map(({ name, broker_id: id }) => ({ name, id }))
}
