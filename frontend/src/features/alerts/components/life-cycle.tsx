import { useTranslation } from "react-i18next"
import { Unknown } from "@/components/values/num"
import { useUrlState } from "@/hooks/use-url-state"
import type { AlertCounts } from "@/lib/api-types"
import { count } from "@/lib/format"
import classes from "./alerts.module.css"

const STAGES = ["pending", "firing", "no_data", "acknowledged", "silenced", "resolved"] as const

/** The title block is the life cycle, in its order; each cell filters the table. Only firing may be red. */
export function LifeCycle({ counts }: { counts: AlertCounts | undefined }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  return (
    <div className={classes.cycle} role="group" aria-label={t("alerts.cycle")}>
      {STAGES.map((stage) => (
        <button
          key={stage}
          type="button"
          className={classes.stage}
          aria-pressed={state.state === stage}
          data-alarm={(stage === "firing" && (counts?.firing ?? 0) > 0) || undefined}
          onClick={() => change({ state: state.state === stage ? undefined : stage, tab: undefined })}
        >
          <span>{t(`alerts.states.${stage}`)}</span>
          <b>{counts ? count(counts[stage]) : <Unknown />}</b>
          {t(`alerts.stageWords.${stage}`)}
        </button>
      ))}
    </div>
  )
}
