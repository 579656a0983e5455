import { IconBolt } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { useAlerts } from "../api/get-alerts"

const OF_GROUPS = /^(group_|dead_letters)/

/** The mark of a group of which an alert fires. */
export function OverLimit({ cluster, group }: { cluster: string; group: string }) {
  const { t } = useTranslation()
  const found = useAlerts("firing").data?.items.find((alert) => alert.cluster === cluster && alert.subject === group && OF_GROUPS.test(alert.rule.metric))
  if (!found) return null
  return (
    <Link to="/alerts" search={{ alert: found.id }}>
      <Badge tone="crit" icon={IconBolt}>
        {t("alerts.overLimit")}
      </Badge>
    </Link>
  )
}
