import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { QueryPanel } from "@/components/states/query-panel"
import { Time } from "@/components/values/time"
import { useMay } from "@/hooks/use-rights"
import { allOf, useChangesOf } from "../api/get-audit"
import { useAuditWords } from "../use-sentence"
import classes from "./audit.module.css"

/** Who changed a topic or group over Gantry, or tried to; only for those who may read the audit. */
export function ResourceChanges({ resource }: { resource: string }) {
  const { t } = useTranslation()
  const isAllowed = useMay("manage")
  const changes = useChangesOf(resource, isAllowed)
  const { sentence } = useAuditWords()
  if (!isAllowed) return null
  return (
    <QueryPanel
      query={changes}
      title={t("activity.changesOver")}
      actions={
        <Link to="/audit" search={{ resource: allOf(resource) }}>
          {t("overview.all")}
        </Link>
      }
      what={t("audit.failed")}
    >
      {(items) => (
        <ul className={classes.recent}>
          {items.map((entry) => (
            <li key={entry.id}>
              <small>
                <Time at={entry.at} />
              </small>
              <span>{sentence(entry)}</span>
            </li>
          ))}
          {items.length === 0 && <li className={classes.none}>{t("audit.none")}</li>}
        </ul>
      )}
    </QueryPanel>
  )
}
