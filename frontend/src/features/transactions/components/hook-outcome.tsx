import { IconArrowBackUp, IconCheck, IconHelpCircle } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { Time } from "@/components/values/time"
import type { TransactionHook } from "@/lib/api-types"

const BADGES = {
  commit: { tone: "ok", icon: IconCheck },
  rollback: { tone: "grey", icon: IconArrowBackUp },
  unknown: { tone: "warn", icon: IconHelpCircle },
} as const

/** What came of one check: the decision, when, and why there was none. */
export function Outcome({ outcome }: { outcome: TransactionHook["last"] }) {
  const { t } = useTranslation()
  if (outcome === null) return <span>{t("transactions.hooks.never")}</span>
  const { tone, icon } = BADGES[outcome.decision]
  return (
    <span title={`${outcome.topic} ${outcome.message_id}`}>
      <Badge tone={tone} icon={icon}>
        {t(`transactions.hooks.decisions.${outcome.decision}`)}
      </Badge>{" "}
      <Time at={outcome.at} /> {outcome.failure}
    </span>
  )
}
