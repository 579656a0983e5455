import { SegmentedControl } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Chip } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Callout, Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { NotApplicable } from "@/components/values/num"
import { usePhone } from "@/hooks/use-media"
import { useUrlState } from "@/hooks/use-url-state"
import { count } from "@/lib/format"
import { differencesIn } from "../differing"
import { keylessOf, listedOf, type Report, type Sample, TILES } from "../report"
import type { ReconcileRequest } from "../request"
import { titleOfSide } from "../sides"
import { DifferenceKind } from "./difference-kind"
import { DifferencesByQueue, DifferencesByTag } from "./differences-by-place"
import { DifferencePlace } from "./difference-place"
import { DifferenceRows } from "./difference-rows"
import { Why } from "./difference-why"
import { ReplayMissingButton } from "./replay-missing"
import classes from "./jobs.module.css"

const column = columnsFor<Sample>()

interface DifferencesPanelProps {
  report: Report
  request: Partial<ReconcileRequest>
  selected: Sample | undefined
  onSelect: (sample: Sample) => void
}

const VIEWS = ["samples", "queues", "tags"] as const

/** Samples of each kind of difference, a row opens both sides; or their numbers by queue, or by tag. */
export function DifferencesPanel({ report, request, selected, onSelect }: DifferencesPanelProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const { samples = [], queues = [], tags = {} } = report
  const kinds = TILES.filter((tile) => samples.some((sample) => sample.class === tile))
  const total = listedOf(report)
  const has = { samples: true, queues: queues.length > 0, tags: Object.keys(tags).length > 0 }
  const views = total > 0 ? VIEWS.filter((view) => has[view]) : []
  const view = views.find((each) => each === state.view) ?? "samples"
  return (
    <Panel>
      <div className={classes.filters}>
        {view === "samples" && (
          <>
            <Chip isOn={!kinds.some((tile) => tile === state.kind)} count={count(total)} onClick={() => change({ kind: undefined })}>
              {t("jobs.all")}
            </Chip>
            {kinds.map((tile) => (
              <Chip key={tile} isOn={tile === state.kind} count={count(report.tiles?.[tile] ?? 0)} onClick={() => change({ kind: tile })}>
                {t(`reconcile.tiles.${tile}`)}
              </Chip>
            ))}
            {samples.length < total && <span className="micro">{t("reconcile.onlySamples", { n: count(samples.length), total: count(total) })}</span>}
          </>
        )}
        <span className={classes.views} />
        {(report.missing_messages ?? 0) > 0 && <ReplayMissingButton missing={report.missing_messages ?? 0} />}
        {views.length > 1 && (
          <SegmentedControl
            size="xs"
            aria-label={t("reconcile.view")}
            value={view}
            onChange={(next) => change({ view: next === "samples" ? undefined : next })}
            data={views.map((value) => ({ value, label: t(`reconcile.views.${value}`) }))}
          />
        )}
      </div>
      {report.is_csv_whole === false && <Callout>{t("reconcile.csvCut")}</Callout>}
      {view === "samples" && <Samples report={report} request={request} selected={selected} onSelect={onSelect} />}
      {view === "queues" && <DifferencesByQueue queues={queues} />}
      {view === "tags" && <DifferencesByTag tags={tags} />}
    </Panel>
  )
}

function Samples({ report, request, selected, onSelect }: DifferencesPanelProps) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const isPhone = usePhone()
  const { samples = [] } = report
  const rows = shownSamples(report, state.kind)
  const columns = useMemo(
    () => [
      column("kind", t("reconcile.kind"), {}, (sample) => <DifferenceKind tile={sample.class} />),
      column("key", t("reconcile.key"), { isName: true }, ({ key }) => (key === null ? <NotApplicable /> : <span className="mono">{key}</span>)),
      column("left", t("reconcile.leftAt"), { align: "end", minWidth: 620 }, ({ left }) => <DifferencePlace place={left} topic={request.left?.topic} />),
      column("right", t("reconcile.rightAt"), { align: "end", minWidth: 620 }, ({ right }) => <DifferencePlace place={right} topic={request.right?.topic} />),
      column("leftValue", t("reconcile.left", { topic: titleOfSide(request.left) }), { align: "end", isStrong: true, minWidth: 900 }, (sample) => <Value sample={sample} side="left" />),
      column("rightValue", t("reconcile.right", { topic: titleOfSide(request.right) }), { align: "end", isStrong: true, minWidth: 900 }, (sample) => <Value sample={sample} side="right" />),
      column("why", t("reconcile.why"), { isSecondary: true, minWidth: 480 }, (sample) => <Why sample={sample} />),
    ],
    [t, request],
  )
  const keyless = keylessOf(report)
  if (rows.length === 0)
    return (
      <Empty
        small
        title={t("reconcile.equal")}
        next={keyless > 0 ? t("reconcile.equalWithKey", { count: keyless, n: count(keyless) }) : t("reconcile.equalNext")}
      />
    )
  if (isPhone) return <DifferenceRows samples={rows} request={request} idOf={idOf(samples)} onSelect={onSelect} />
  return (
    <DataTable
      natural
      label={t("reconcile.samples")}
      columns={columns}
      rows={rows}
      rowId={idOf(samples)}
      selectedId={selected && idOf(samples)(selected)}
      onRow={onSelect}
    />
  )
}

/** The samples of one kind, or all of them. */
export function shownSamples({ samples = [] }: Report, kind: string | undefined): Sample[] {
  const chosen = samples.filter((sample) => sample.class === kind)
  return chosen.length > 0 ? chosen : samples
}

/** Reports do not change: the place in the list names a sample. */
export const idOf = (samples: readonly Sample[]) => (sample: Sample) => String(samples.indexOf(sample))

const LONGEST = 40

/** The values that differ on one side; what is cut for the row stands whole beside it when the row is opened. */
function Value({ sample, side }: { sample: Sample; side: "left" | "right" }) {
  const lines = differencesIn(sample)
  const text = lines.map((line) => line[side] ?? "—").join(" · ")
  if (lines.length === 0) return <NotApplicable />
  return <>{text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</>
}
