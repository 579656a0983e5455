import { IconArrowBackUp, IconCheck, IconHelpCircle } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { Time } from "@/components/values/time"
import { useLanguage } from "@/hooks/use-format"
import type { TransactionHook } from "@/lib/api-types"
import { sentenceIn } from "@/lib/reasons"
import classes from "./transactions.module.css"

const BADGES = {
  commit: { tone: "ok", icon: IconCheck },
  rollback: { tone: "grey", icon: IconArrowBackUp },
  unknown: { tone: "warn", icon: IconHelpCircle },
} as const

/** What came of one check: the decision, when, and why there was none. */
export function Outcome({ outcome }: { outcome: TransactionHook["last"] }) {
  const { t } = useTranslation()
  const language = useLanguage()
  if (outcome === null) return <span>{t("transactions.hooks.never")}</span>
  const { tone, icon } = BADGES[outcome.decision]
  const failure = outcome.failure === null ? null : sentenceIn(t, language, outcome.failure)
  return (
    <span title={`${outcome.topic} ${outcome.message_id}`}>
      <Badge tone={tone} icon={icon}>
        {t(`transactions.hooks.decisions.${outcome.decision}`)}
      </Badge>{" "}
      <Time at={outcome.at} />
      {failure !== null && <small className={classes.failure}>{failure}</small>}
    </span>
  )
}

/** The last check without a decision; one that is shown beside it as the last check is not told twice. */
export function FailedOutcome({ hook: { last, last_failure: failed } }: { hook: TransactionHook }) {
  const { t } = useTranslation()
  const isSame = failed !== null && last !== null && last.failure !== null && last.at === failed.at && last.message_id === failed.message_id
  return isSame ? <span>{t("transactions.hooks.sameCheck")}</span> : <Outcome outcome={failed} />
}
