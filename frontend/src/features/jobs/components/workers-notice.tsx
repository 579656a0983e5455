import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import type { JobWorkers } from "@/lib/api-types"
import { aliveOf } from "../waiting"

/** Says that jobs wait for a worker which is not there, or that nobody knows; nothing while one lives. */
export function WorkersNotice({ workers }: { workers: JobWorkers | undefined }) {
  const { t } = useTranslation()
  if (workers === undefined) return null
  const alive = aliveOf(workers)
  if (alive === null)
    return (
      <Callout>
        <b>{t("jobPages.workers.unknown")}</b> {t("jobPages.workers.unknownNext")}
      </Callout>
    )
  if (alive > 0) return null
  return (
    <Callout tone="crit">
      <b>{workers.queued > 0 ? t("jobPages.workers.deadWaiting", { count: workers.queued }) : t("jobPages.workers.dead")}</b> {t("jobPages.workers.deadNext")}
    </Callout>
  )
}
