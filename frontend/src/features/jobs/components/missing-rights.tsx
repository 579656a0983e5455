import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { useMissingRights } from "@/hooks/use-right-on"
import { useMay } from "@/hooks/use-rights"
import type { JobRequest } from "@/lib/api-types"
import { demandsOf } from "../demands"

/** Which rights a job needs that its user does not have, before any more work is done; nothing while none is known to be missing. */
export function MissingRights({ request }: { request: JobRequest }) {
  const { t } = useTranslation()
  const missing = useMissingRights(demandsOf(request))
  // Without this one nothing can be filled in, which is said already.
  const mayStart = useMay("jobs")
  if (!mayStart || missing.length === 0) return null
  const words = missing.map(({ right, kind, name }) => t(name === undefined ? "jobs.rightAlone" : `jobs.rightOn.${kind}`, { right: t(`rights.${right}`), name }))
  return (
    <Callout>
      <b>{t("jobs.lacksRights")}</b> {words.join(t("list.semicolon"))}
    </Callout>
  )
}
