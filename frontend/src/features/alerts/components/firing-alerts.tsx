import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Definitions } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useAlerts } from "../api/get-alerts"
import { AlertState } from "./alert-state"

const SHOWN = 5

/** The firing alerts, for the overview. */
export function FiringAlerts() {
  const { t } = useTranslation()
  const alerts = useAlerts("firing")
  return (
    <QueryPanel
      query={alerts}
      title={t("alerts.firingTitle")}
      actions={<Link to="/alerts">{t("alerts.all")}</Link>}
      what={t("alerts.failed")}
      isEmpty={({ items }) => items.length === 0}
      empty={<Empty small title={t("alerts.noneFiring")} />}
    >
      {({ items }) => (
        <Definitions
          items={items.slice(0, SHOWN).map(({ id, rule, subject, shown }) => [
            `${rule.name} · ${subject}`,
            <Link key={id} to="/alerts" search={{ alert: id }}>
              <AlertState state={shown} />
            </Link>,
          ])}
        />
      )}
    </QueryPanel>
  )
}
