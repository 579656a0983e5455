import { Button } from "@mantine/core"
import { IconPlayerPlay } from "@tabler/icons-react"
import type { UseQueryResult } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { Panel } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { Loading } from "@/components/states/loading"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { useRefusals } from "@/components/wizard/refusals"
import { RefusedFields } from "@/components/wizard/refused-fields"
import type { RedriveAsked, RedrivePreview } from "@/lib/api-types"
import { count } from "@/lib/format"
import { asProblem } from "@/lib/problem"
import { useStartRedrives } from "../api/start-redrive"
import { isUnread } from "../redrive"
import classes from "./dead-letters.module.css"
import { DryRun } from "./dry-run"

interface RedriveDecisionProps {
  cluster: string
  group: string
  asked: RedriveAsked
  isWhole: boolean
  /** What it would do; absent while something is still to be chosen. */
  preview: UseQueryResult<RedrivePreview> | undefined
}

/** What the redrive would do, who else sees it, and the button. */
export function RedriveDecision({ isWhole, ...props }: RedriveDecisionProps) {
  const { t } = useTranslation()
  const { group, asked, preview } = props
  const { data, error } = preview ?? {}
  return (
    <Panel>
      <DryRun asked={[[group, asked]]} previews={data ? [data] : []} isReady={data !== undefined} rate={asked.limits.messages_per_second}>
        {null}
      </DryRun>
      {error && <Failed what={t("deadLetters.dryRunFailed")} error={error} retry={() => void preview?.refetch()} />}
      {isWhole && !data && !error && <Loading skeleton={<SkeletonBlock height={90} />} />}
      <Start {...props} />
    </Panel>
  )
}

function Start({ cluster, group, asked, preview }: Omit<RedriveDecisionProps, "isWhole">) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { note } = useRefusals()
  const start = useStartRedrives(cluster)
  const found = preview?.data && !isUnread(preview.data) ? preview.data : undefined
  const messages = found?.messages ?? 0
  const needsYes = found?.needs_allow_live_target === true && !asked.allow_live_target
  const refused = start.error ?? preview?.error
  const go = () =>
    start.mutate([[group, asked]], {
      onSuccess: ([job]) => {
        toastDone(t("deadLetters.started", { count: 1 }))
        if (job) void navigate({ to: "/jobs/$job", params: { job: job.id }, search: {} })
      },
      onError: (error) => {
        note({ sent: asked, fields: asProblem(error).fields })
        toastFailed(t("deadLetters.notStarted"), error)
      },
    })
  return (
    <div className={classes.start}>
      {refused && <RefusedFields fields={asProblem(refused).fields} />}
      <NeedsRight right="redrive">
        <Button
          variant="filled"
          size="md"
          leftSection={<IconPlayerPlay size={15} stroke={1.8} />}
          loading={start.isPending}
          disabled={messages === 0 || needsYes}
          title={needsYes ? t("jobs.tickFirst") : ""}
          onClick={go}
        >
          {found ? t("deadLetters.redrive", { count: messages, n: count(messages) }) : t("redriveWizard.start")}
        </Button>
      </NeedsRight>
    </div>
  )
}
