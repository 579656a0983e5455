import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { QueryBody } from "@/components/states/query-panel"
import { Time } from "@/components/values/time"
import { useMay } from "@/hooks/use-rights"
import { allOf, useRecentChanges } from "../api/get-audit"
import { useAuditWords } from "../use-sentence"
import classes from "./audit.module.css"

/** What was changed last in a cluster, and by whom; only for those who may read the audit. */
export function RecentChanges({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const isAllowed = useMay("manage")
  const changes = useRecentChanges(cluster, isAllowed)
  const { sentence } = useAuditWords()
  if (!isAllowed) return null
  return (
    <Panel title={t("audit.recent")} actions={<Link to="/audit" search={{ resource: allOf(cluster) }}>{t("overview.all")}</Link>}>
      <QueryBody query={changes} what={t("audit.failed")}>
        {(items) => (
          <ul className={classes.recent}>
            {items.map((entry) => (
              <li key={entry.id}>
                <small>
                  <Time at={entry.at} />
                </small>
                <span className="truncate" title={`${entry.action} ${entry.resource}`}>
                  {sentence(entry)}
                </span>
              </li>
            ))}
            {items.length === 0 && <li className={classes.none}>{t("audit.none")}</li>}
          </ul>
        )}
      </QueryBody>
    </Panel>
  )
}
