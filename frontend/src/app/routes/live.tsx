import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Page } from "@/components/layout/page"
import { currentTab, TabBar } from "@/components/layout/tab-bar"
import { EventsPanel } from "@/features/activity/components/events-panel"
import { LivePage } from "@/features/live/components/live-page"
import { MessageDrawer } from "@/features/messages/components/message-drawer"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"

const NONE: string[] = []

const TABS = ["messages", "events"] as const

/** Messages as they are stored, or what happens in the cluster. */
export function LiveRoute() {
  const cluster = useCluster()
  const [url] = useUrlState()
  const { t } = useTranslation()
  const items = TABS.map((id) => ({ id, label: t(id === "events" ? "activity.title" : "activity.messages") }))
  const tabs = <TabBar tabs={items} />
  if (currentTab(items, url.tab) === "messages") return <Messages cluster={cluster} tabs={tabs} />
  return (
    <Page fill title={t("nav.live")}>
      {tabs}
      <EventsPanel cluster={cluster} />
    </Page>
  )
}

function Messages({ cluster, tabs }: { cluster: string; tabs: ReactNode }) {
  return (
    <LivePage
      tabs={tabs}
      cluster={cluster}
      names={useTopicNames(cluster).data ?? NONE}
      drawerOf={(address, onClose) => <MessageDrawer cluster={cluster} address={address} rows={[]} onShow={onClose} onClose={onClose} />}
    />
  )
}
