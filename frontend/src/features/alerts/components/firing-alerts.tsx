import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { Ago } from "@/components/values/time"
import { useAlerts } from "../api/get-alerts"
import { begunOf } from "../begun"
import { AlertState } from "./alert-state"
import classes from "./alerts.module.css"

const SHOWN = 5

/** The firing alerts of a cluster, for its overview. */
export function FiringAlerts({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const alerts = useAlerts("firing", cluster)
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
        <ul>
          {items.slice(0, SHOWN).map(({ id, rule, subject, shown, ...life }) => (
            <li key={id}>
              <Link to="/alerts" search={{ alert: id }} className={classes.firing}>
                <AlertState state={shown} />
                <span className="truncate" title={subject}>
                  {rule.name} · {subject}
                </span>
                <small>
                  <Ago at={begunOf(life)} />
                </small>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </QueryPanel>
  )
}
