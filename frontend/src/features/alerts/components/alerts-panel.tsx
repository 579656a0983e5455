import { useTranslation } from "react-i18next"
import { PanelFoot } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { usePhone } from "@/hooks/use-media"
import { useUrlState } from "@/hooks/use-url-state"
import { useAlerts } from "../api/get-alerts"
import { useAlertRules } from "../api/get-rules"
import { AlertRows } from "./alert-rows"
import { AlertsTable } from "./alerts-table"

const STALE_AFTER_MS = 30_000

/** The alerts of the chosen state; the rules that are quiet fold into one line. */
export function AlertsPanel() {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const alerts = useAlerts(state.state)
  const rules = useAlertRules().data
  const unfollowed = rules?.reduce((sum, { figures }) => sum + figures.reduce((each, { unfollowed: more }) => each + more, 0), 0) ?? 0
  const loud = new Set(alerts.data?.items.map(({ rule }) => rule.id))
  const quiet = rules?.filter(({ id, enabled }) => enabled && !loud.has(id)).length
  const none = rules?.length === 0
  const List = usePhone() ? AlertRows : AlertsTable
  return (
    <QueryPanel
      query={alerts}
      what={t("alerts.failed")}
      staleAfterMs={STALE_AFTER_MS}
      isEmpty={({ items }) => items.length === 0}
      empty={<Empty title={none ? t("alerts.noRules") : t("alerts.none")} next={none ? t("alerts.noRulesNext") : t("alerts.noneNext")} />}
    >
      {({ items, next_cursor }) => (
        <>
          <List alerts={items} selectedId={state.alert} onAlert={({ id }) => change({ alert: id, new: undefined, edit: undefined })} />
          <Foot
            words={[
              !state.state && quiet !== undefined && quiet > 0 && t("alerts.quietRules", { count: quiet }),
              unfollowed > 0 && t("alerts.unfollowed", { count: unfollowed }),
              next_cursor !== null && t("alerts.more", { count: items.length }),
            ]}
          />
        </>
      )}
    </QueryPanel>
  )
}

/** Nothing where there is nothing to add. */
function Foot({ words }: { words: (string | false)[] }) {
  const said = words.filter((each) => each !== false)
  if (said.length === 0) return null
  return (
    <PanelFoot>
      <span className="micro">{said.join(" ")}</span>
    </PanelFoot>
  )
}
