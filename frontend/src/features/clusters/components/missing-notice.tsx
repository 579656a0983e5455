import { IconPlugConnectedX } from "@tabler/icons-react"
import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import classes from "@/components/states/states.module.css"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { MissingBroker, Overview } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import { useOverview } from "../api/get-overview"

/** On every page of a cluster: which of its brokers do not answer, since when and why, and what follows. */
export function MissingNotice({ cluster }: { cluster: string }) {
  const overview = useOverview(cluster).data
  const lines = useMissingLines(overview)
  if (lines.length === 0) return null
  return (
    <div className={classes.missing} role="status">
      {lines.map((line) => (
        <p key={line}>
          <IconPlugConnectedX size={15} stroke={1.6} aria-hidden />
          {line}
        </p>
      ))}
    </div>
  )
}

/** A sentence for each that does not answer. */
export function useMissingLines(overview: Overview | undefined): string[] {
  const { t } = useTranslation()
  const missing = useMissingWords()
  return overview ? [...nobodyKnows(overview, t), ...overview.missing.map(missing)] : []
}

function nobodyKnows(overview: Overview, t: TFunction): string[] {
  const { name_server_reason: nameServers, unknown_reason: reason, missing, brokers } = overview
  if (nameServers && brokers.length === 0) return [t("missing.all", { reason: reasonIn(t, nameServers) })]
  if (nameServers) return [t("missing.nameServers", { reason: reasonIn(t, nameServers) })]
  return reason && missing.length === 0 ? [t("missing.all", { reason: reasonIn(t, reason) })] : []
}

function useMissingWords(): (missing: MissingBroker) => string {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow(5_000)
  return ({ broker, reason, since }) => {
    const why = reasonIn(t, reason)
    if (since === null) return t("missing.one", { broker, reason: why })
    return t("missing.since", { broker, reason: why, age: format.duration(Math.max(1_000, now - Date.parse(since))) })
  }
}
