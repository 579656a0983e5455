import { Button } from "@mantine/core"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { Panel } from "@/components/layout/panel"
import { ProgressRail } from "@/components/rail/rail"
import { Empty } from "@/components/states/empty"
import { Failed } from "@/components/states/failed"
import { Loading } from "@/components/states/loading"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { useMay } from "@/hooks/use-rights"
import { useUrlState } from "@/hooks/use-url-state"
import type { Job } from "@/lib/api-types"
import { count } from "@/lib/format"
import { groupOf } from "../api/get-redrives"
import { usePreviews } from "../api/preview-redrives"
import { useNativeClients } from "../api/get-native-clients"
import { useCancelRedrive, useStartRedrives } from "../api/start-redrive"
import type { Picks } from "../picks"
import { causesAs, isUnread } from "../redrive"
import { askedOf, isWhole, usualOf, wishOf } from "../wish"
import { DryRun } from "./dry-run"
import classes from "./dead-letters.module.css"
import { WishFields } from "./wish-fields"

interface RedrivePanelProps {
  cluster: string
  picks: Picks
  topics: readonly string[]
  running: readonly Job[]
  onStarted: () => void
}

/** The one decision: where to, how fast, and what that would do; while it runs, how far it is. */
export function RedrivePanel({ cluster, picks, topics, running, onStarted }: RedrivePanelProps) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const clients = useNativeClients(cluster, Object.keys(picks))
  // Only the group itself had the bodies before.
  const mayHandOn = useMay("bodies")
  const usual = mayHandOn ? usualOf(clients) : "failed_group"
  // What a click would do must not change under the pointer.
  const isChosen = state.to !== undefined || !clients.includes(undefined)
  const wish = wishOf(state, usual)
  const asked = askedOf(picks, wish)
  const may = useMay("redrive")
  const previews = usePreviews(cluster, asked, may && isChosen && isWhole(wish))
  const start = useStartRedrives(cluster)
  const failed = previews.find(({ error }) => error !== null)
  const found = previews.flatMap(({ data }) => (data ? [data] : []))
  const isReady = found.length === asked.length && !found.some(isUnread)
  const needsYes = found.some(({ needs_allow_live_target: needs }) => needs) && !wish.isAllowed
  const messages = found.reduce((sum, preview) => sum + preview.messages, 0)
  const go = () =>
    start.mutate(asked, {
      onSuccess: (jobs) => {
        toastDone(t("deadLetters.started", { count: jobs.length }))
        onStarted()
      },
      onError: (error) => toastFailed(t("deadLetters.notStarted"), error),
    })
  return (
    <>
      {running.map((job) => (
        <RunningRedrive key={job.id} job={job} />
      ))}
      <Panel>
        {asked.length === 0 ? (
          <Empty small title={t("deadLetters.nothingPicked")} next={t("deadLetters.nothingPickedNext")} />
        ) : (
          <>
            <DryRun asked={asked} previews={found} isReady={found.length === asked.length} rate={wish.rate}>
              <WishFields topics={topics} usual={usual} mayHandOn={mayHandOn} />
            </DryRun>
            {failed?.error && <Failed what={t("deadLetters.dryRunFailed")} error={failed.error} retry={() => void failed.refetch()} />}
            {found.length < asked.length && !failed && may && isWhole(wish) && <Loading skeleton={<SkeletonBlock height={90} />} />}
            <div className={classes.decide}>
              <RedriveButton messages={messages} needsYes={needsYes} isLocked={!isReady || running.length > 0} isPending={start.isPending} onClick={go} />
              <Again may={may} onClick={() => previews.forEach(({ refetch }) => void refetch())} />
            </div>
            <ToWizard picks={picks} />
          </>
        )}
      </Panel>
    </>
  )
}

interface RedriveButtonProps {
  messages: number
  /** Whether the tick for live targets is missing. */
  needsYes: boolean
  isLocked: boolean
  isPending: boolean
  onClick: () => void
}

function RedriveButton({ messages, needsYes, isLocked, isPending, onClick }: RedriveButtonProps) {
  const { t } = useTranslation()
  return (
    <NeedsRight right="redrive">
      <Button
        variant="filled"
        loading={isPending}
        disabled={isLocked || needsYes || messages === 0}
        title={needsYes ? t("jobs.tickFirst") : ""}
        onClick={onClick}
      >
        {messages === 0 && isLocked ? t("redriveWizard.start") : t("deadLetters.redrive", { count: messages, n: count(messages) })}
      </Button>
    </NeedsRight>
  )
}

/** A dry run needs the right to redrive, too. */
function Again({ may, onClick }: { may: boolean; onClick: () => void }) {
  const { t } = useTranslation()
  if (!may) return <span className="micro">{t("rights.missing", { right: t("rights.redrive") })}</span>
  return <Button onClick={onClick}>{t("deadLetters.again")}</Button>
}

/** The wizard chooses more closely, but of one group. */
function ToWizard({ picks }: { picks: Picks }) {
  const { t } = useTranslation()
  const [only, ...others] = Object.entries(picks)
  if (only === undefined || others.length > 0) return null
  const [group, picked] = only
  return (
    <div className={classes.more}>
      <Link to="/jobs/new/redrive" search={{ group, ...(picked !== "all" && { causes: causesAs(picked) }) }}>
        {t("redriveWizard.more")}
      </Link>
    </div>
  )
}

function RunningRedrive({ job }: { job: Job }) {
  const { t } = useTranslation()
  const cancel = useCancelRedrive(job.id)
  const { planned, read: done } = job.counters
  const shown = done === null ? "—" : count(done)
  const group = groupOf(job)
  const run = () =>
    cancel.mutate(undefined, {
      onSuccess: () => toastDone(t("deadLetters.cancelled", { group })),
      onError: (error) => toastFailed(t("deadLetters.notCancelled"), error),
    })
  return (
    <Panel title={t("deadLetters.running", { group })}>
      <div className={classes.running}>
        <ProgressRail tall ratio={planned ? Math.min(1, (done ?? 0) / planned) : 0} />
        <div className={classes.chips}>
          <span>{planned ? t("deadLetters.doneOf", { n: shown, total: count(planned) }) : t("deadLetters.doneSoFar", { n: shown })}</span>
          <NeedsRight right="jobs">
            <Button size="xs" data-danger disabled={job.cancel_requested} loading={cancel.isPending} onClick={run}>
              {t("deadLetters.cancel")}
            </Button>
          </NeedsRight>
        </div>
      </div>
    </Panel>
  )
}
