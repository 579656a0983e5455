import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { Definitions } from "@/components/layout/panel"
import { Ident } from "@/components/values/ident"
import { Time } from "@/components/values/time"
import type { AuditEntry } from "@/lib/api-types"
import { changesOf } from "../changes"
import { useAuditWords } from "../use-sentence"
import classes from "./audit.module.css"

interface AuditDrawerProps {
  entry: AuditEntry
  onClose: () => void
  onPrevious?: (() => void) | undefined
  onNext?: (() => void) | undefined
}

/** One change: who, what, and field by field before and after. */
export function AuditDrawer({ entry, ...steps }: AuditDrawerProps) {
  const { t } = useTranslation()
  const { sentence, result } = useAuditWords()
  const changes = changesOf(entry.before, entry.after)
  return (
    <DockedDrawer label={t("auditEntry.one")} {...steps}>
      <h2 className={classes.title}>{sentence(entry)}</h2>
      <Definitions
        items={[
          [t("auditEntry.at"), <Time at={entry.at} withMs />],
          [t("auditEntry.token"), entry.token ?? t("auditEntry.session")],
          [t("auditEntry.address"), entry.address || "—"],
          [t("auditEntry.result"), result(entry.result)],
          [t("auditEntry.action"), <span className="mono">{entry.action}</span>],
          [t("auditEntry.resource"), <span className="mono">{entry.resource}</span>],
          [t("auditEntry.request"), <Ident whole id={entry.request_id} />],
        ]}
      />
      <div className={classes.changes}>
        {changes.length > 0 && (
          <table>
            <thead>
              <tr>
                <th>{t("auditEntry.field")}</th>
                <th>{t("auditEntry.before")}</th>
                <th>{t("auditEntry.after")}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ field, before, after }) => (
                <tr key={field}>
                  <td>{field}</td>
                  <td>{before}</td>
                  <td>{after}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {changes.length === 0 && <p className="micro">{t("auditEntry.noChanges")}</p>}
        {entry.after !== null && entry.after !== undefined && <CodeBlock wrap language="json" text={JSON.stringify(entry.after, null, 2)} />}
      </div>
    </DockedDrawer>
  )
}
