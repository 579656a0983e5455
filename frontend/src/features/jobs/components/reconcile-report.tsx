import { IconCircleCheck, IconRefreshAlert } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { JobState } from "@/components/badges/job-state"
import { TitleBlock } from "@/components/layout/title-block"
import { QueryBody } from "@/components/states/query-panel"
import { useUrlState } from "@/hooks/use-url-state"
import type { Job } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useJobReport } from "../api/get-job-report"
import { differencesOf, type Report, type Tile, TILES, tokenOf } from "../report"
import type { ReconcileRequest } from "../request"
import { findingsIn } from "../store-findings"
import { DifferenceDrawer } from "./difference-drawer"
import { DifferencesOverTime } from "./differences-over-time"
import { ReplayMissing } from "./replay-missing"
import { DifferencesPanel, idOf, shownSamples } from "./differences-table"
import { StoreBadge, StoreReport } from "./store-report"

/** What agrees and what does not: tiles, and samples of each kind. */
export function ReconcileReport({ job }: { job: Job }) {
  const { t } = useTranslation()
  return (
    <QueryBody query={useJobReport(job)} what={t("reconcile.failed")}>
      {(report) => {
        const findings = findingsIn(report)
        return findings ? <StoreReport findings={findings} /> : <Differences report={report} job={job} />
      }}
    </QueryBody>
  )
}

function Differences({ report, job }: { report: Report; job: Job }) {
  const opened = useOpened(report)
  return (
    <>
      <Tiles report={report} />
      {report.buckets && <DifferencesOverTime buckets={report.buckets} />}
      <DifferencesPanel report={report} request={job.request as Partial<ReconcileRequest>} selected={opened.sample} onSelect={opened.open} />
    </>
  )
}

/** The difference that the address names, with both sides beside each other; null for none, and without a comparison. */
export function useDifferenceDrawer(job: Job | undefined) {
  const report = useJobReport(job).data
  const { sample, rows, open, close } = useOpened(report)
  const [state] = useUrlState()
  if (!job || !report) return null
  if (report.missing_messages && state.missing === "replay") return <ReplayMissing job={job} missing={report.missing_messages} />
  if (!sample) return null
  const index = rows.indexOf(sample)
  const step = (to: number) => {
    const next = rows[to]
    return next && (() => open(next))
  }
  return (
    <DifferenceDrawer
      sample={sample}
      request={job.request as Partial<ReconcileRequest>}
      hidden={report.hidden}
      position={index < 0 ? "" : `${count(index + 1)} / ${count(rows.length)}`}
      onPrevious={step(index - 1)}
      onNext={step(index + 1)}
      onClose={close}
    />
  )
}

function useOpened(report: Report | undefined) {
  const [state, change] = useUrlState()
  const samples = report?.samples ?? []
  return {
    sample: state.sample === undefined ? undefined : samples[Number(state.sample)],
    rows: report ? shownSamples(report, state.kind) : [],
    open: (sample: NonNullable<Report["samples"]>[number]) => change({ sample: idOf(samples)(sample) }),
    close: () => change({ sample: undefined }),
  }
}

/** How a comparison ended, in one word and one number. */
export function ReconcileBadge({ job }: { job: Job }) {
  const { t } = useTranslation()
  const report = useJobReport(job).data
  const findings = findingsIn(report)
  if (findings) return <StoreBadge findings={findings} />
  if (!report) return <JobState state={job.state} />
  const differences = differencesOf(report)
  return (
    <Badge tone={differences > 0 ? "warn" : "ok"} icon={differences > 0 ? IconRefreshAlert : IconCircleCheck}>
      {t("reconcile.finished", { count: differences, n: count(differences) })}
    </Badge>
  )
}

const ALWAYS: readonly Tile[] = ["matched", "missing_right", "missing_left", "different", "duplicate_right", "duplicate_left"]

function Tiles({ report }: { report: Report }) {
  const { t } = useTranslation()
  const { tiles = {} } = report
  const { rows_left: left, rows_right: right } = tiles
  const factOf = (tile: Tile) => {
    if (tile === "matched" && left !== undefined && right !== undefined) return t("reconcile.ofRows", { left: count(left), right: count(right) })
    return tiles[tile] === 0 && tile !== "matched" ? t("reconcile.noneFound") : t(`reconcile.words.${tile}`)
  }
  const shown = TILES.filter((tile) => ALWAYS.includes(tile) || (tiles[tile] ?? 0) > 0)
  return (
    <TitleBlock
      figures={shown.map((tile) => ({
        label: t(`reconcile.tiles.${tile}`),
        value: tiles[tile] === undefined ? "—" : count(tiles[tile]),
        fact: factOf(tile),
        swatch: tile === "matched" ? undefined : `var(${tokenOf(tile)})`,
      }))}
    />
  )
}
