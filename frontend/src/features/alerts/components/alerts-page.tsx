import { Button } from "@mantine/core"
import { IconBellOff, IconPlus } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { NeedsRight } from "@/components/forms/lock"
import { Page } from "@/components/layout/page"
import { currentTab, TabBar } from "@/components/layout/tab-bar"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import { useAlertCounts } from "../api/get-counts"
import { useAlertRules } from "../api/get-rules"
import { AlertDrawer } from "./alert-drawer"
import { AlertsPanel } from "./alerts-panel"
import { ChannelForm } from "./channel-form"
import { ChannelsPanel } from "./channels-panel"
import { DeliveriesPanel } from "./deliveries-panel"
import { LifeCycle } from "./life-cycle"
import { RuleForm } from "./rule-form"
import { RulesPanel } from "./rules-panel"
import { SilenceForm } from "./silence-form"
import { SilencesPanel } from "./silences-panel"

const TABS = ["alerts", "rules", "silences", "deliveries", "channels"] as const
const PANELS = { alerts: AlertsPanel, rules: RulesPanel, silences: SilencesPanel, deliveries: DeliveriesPanel, channels: ChannelsPanel }

export function AlertsPage() {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const counts = useAlertCounts()
  const rules = useAlertRules()
  const tabs = TABS.map((id) => ({ id, label: t(`alerts.tabs.${id}`) }))
  const Panel = PANELS[currentTab(tabs, state.tab) as (typeof TABS)[number]]
  return (
    <DockedPage drawer={<Drawer />}>
      <Page
        title={t("nav.alerts")}
        facts={rules.data && t("alerts.facts", { count: rules.data.length })}
        actions={
          <>
            <CurlButton request={{ path: paths.alerts, query: { state: state.state } }} />
            <NeedsRight right="manage">
              <Button leftSection={<IconBellOff size={15} stroke={1.6} />} onClick={() => change({ new: "silence", alert: undefined, edit: undefined })}>
                {t("alerts.newSilence")}
              </Button>
            </NeedsRight>
            <NeedsRight right="manage">
              <Button variant="filled" leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => change({ new: "rule", alert: undefined, edit: undefined })}>
                {t("alerts.newRule")}
              </Button>
            </NeedsRight>
          </>
        }
      >
        <LifeCycle counts={counts.data} />
        <TabBar tabs={tabs} />
        <Panel />
      </Page>
    </DockedPage>
  )
}

/** What is docked at the right: an alert, or one of the forms. */
function Drawer() {
  const [state] = useUrlState()
  const rules = useAlertRules().data
  const edited = rules?.find(({ id }) => id === state.edit)
  if (state.new === "rule") return <RuleForm />
  if (state.new === "silence") return <SilenceForm />
  if (state.new === "channel") return <ChannelForm />
  if (edited) return <RuleForm key={edited.id} rule={edited} />
  return state.alert ? <AlertDrawer key={state.alert} id={state.alert} /> : null
}
