import { Button, Checkbox } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { Definitions, Panel } from "@/components/layout/panel"
import { toastFailed } from "@/components/toast/toast"
import { useFormat } from "@/hooks/use-format"
import type { OffsetPlan } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useApplyOffsets } from "../api/apply-offsets"
import { movesOf } from "../wish"
import { toastMoved } from "./moved"
import classes from "./offsets.module.css"

interface ApplyPanelProps {
  cluster: string
  group: string
  plan: OffsetPlan
  onApplied: () => void
}

/** What it comes to, and the button that is named with its amount. */
export function ApplyPanel({ cluster, group, plan, onApplied }: ApplyPanelProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const apply = useApplyOffsets(cluster, group)
  const [isStrict, setStrict] = useState(false)
  const moves = movesOf(plan).length
  const go = () =>
    apply.mutate(
      { plan_id: plan.plan_id, strict: isStrict },
      {
        onSuccess: (moved) => {
          toastMoved(moved)
          onApplied()
        },
        onError: (error) => toastFailed(t("offsets.notMoved", { group }), error),
      },
    )
  return (
    <Panel>
      <div className={classes.hero}>
        <p>{t("offsets.willComeAgain")}</p>
        <strong>{count(plan.to_replay)}</strong>
        {plan.skipped > 0 && (
          <>
            <p>{t("offsets.willBeSkipped")}</p>
            <strong data-skipped>{count(plan.skipped)}</strong>
          </>
        )}
      </div>
      <Definitions
        items={[
          [t("groups.clients"), plan.members === null ? t("states.unknown") : plan.members === 0 ? t("offsets.noMembers") : t("offsets.members", { count: plan.members })],
          [t("offsets.goodUntil"), format.when(plan.expires_at)],
        ]}
      />
      <div className={classes.decide}>
        <Checkbox size="14px" label={t("offsets.strict")} checked={isStrict} onChange={(event) => setStrict(event.currentTarget.checked)} />
        <NeedsRight right="offsets">
          <Button variant="filled" size="md" loading={apply.isPending} disabled={moves === 0} onClick={go}>
            {t("offsets.apply", { count: moves })}
          </Button>
        </NeedsRight>
        <span className="micro">{t("offsets.canBeUndone")}</span>
      </div>
    </Panel>
  )
}
