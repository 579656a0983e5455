import { IconCircleCheck, IconRefreshAlert } from "@tabler/icons-react"
import { useMemo } from "react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Badge, Chip } from "@/components/badges/badge"
import { JobState } from "@/components/badges/job-state"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Panel } from "@/components/layout/panel"
import { TitleBlock } from "@/components/layout/title-block"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import { NotApplicable } from "@/components/values/num"
import { useUrlState } from "@/hooks/use-url-state"
import type { Job } from "@/lib/api-types"
import { count, queueAndOffset } from "@/lib/format"
import { useJobReport } from "../api/get-job-report"
import { differencesOf, type Place, type Report, type Sample, type Tile, TILE_COLORS, TILES } from "../report"
import type { ReconcileRequest } from "../request"
import classes from "./jobs.module.css"

/** What agrees and what does not: tiles, and samples of each kind. */
export function ReconcileReport({ job }: { job: Job }) {
  const { t } = useTranslation()
  const query = useJobReport(job)
  return (
    <QueryBody query={query} what={t("reconcile.failed")}>
      {(report) => (
        <>
          <Tiles report={report} />
          <Samples report={report} request={job.request as Partial<ReconcileRequest>} />
        </>
      )}
    </QueryBody>
  )
}

/** How a comparison ended, in one word and one number. */
export function ReconcileBadge({ job }: { job: Job }) {
  const { t } = useTranslation()
  const report = useJobReport(job).data
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
  const shown = TILES.filter((tile) => ALWAYS.includes(tile) || (tiles[tile] ?? 0) > 0)
  return (
    <TitleBlock
      figures={shown.map((tile) => ({
        label: t(`reconcile.tiles.${tile}`),
        value: tiles[tile] === undefined ? "—" : count(tiles[tile]),
        fact: tiles[tile] === 0 && tile !== "matched" ? t("reconcile.noneFound") : t(`reconcile.words.${tile}`),
        swatch: TILE_COLORS[tile],
      }))}
    />
  )
}

const column = columnsFor<Sample>()

function Samples({ report, request }: { report: Report; request: Partial<ReconcileRequest> }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const samples = report.samples ?? []
  const kinds = TILES.filter((tile) => samples.some((sample) => sample.class === tile))
  const kind = kinds.find((tile) => tile === state.kind)
  const rows = kind ? samples.filter((sample) => sample.class === kind) : samples
  const columns = useMemo(
    () => [
      column("kind", t("reconcile.kind"), {}, (sample) => <Kind tile={sample.class} />),
      column("key", t("reconcile.key"), { isName: true }, ({ key }) => <span className="mono">{key}</span>),
      column("left", t("reconcile.left", { topic: request.left?.topic ?? "" }), { align: "end" }, ({ left }) => (
        <At place={left} topic={request.left?.topic} />
      )),
      column("right", t("reconcile.right", { topic: request.right?.topic ?? "" }), { align: "end" }, ({ right }) => (
        <At place={right} topic={request.right?.topic} />
      )),
      column("why", t("reconcile.why"), { isSecondary: true, minWidth: 560 }, (sample) =>
        sample.fields?.length ? sample.fields.join(t("list.comma")) : t(`reconcile.words.${sample.class}`),
      ),
    ],
    [t, request],
  )
  const total = differencesOf(report)
  return (
    <Panel>
      <div className={classes.filters}>
        <Chip isOn={kind === undefined} count={count(total)} onClick={() => change({ kind: undefined })}>
          {t("jobs.all")}
        </Chip>
        {kinds.map((tile) => (
          <Chip key={tile} isOn={tile === kind} count={count(report.tiles?.[tile] ?? 0)} onClick={() => change({ kind: tile })}>
            {t(`reconcile.tiles.${tile}`)}
          </Chip>
        ))}
        {samples.length < total && <span className="micro">{t("reconcile.onlySamples", { n: count(samples.length), total: count(total) })}</span>}
      </div>
      {rows.length === 0 ? (
        <Empty small title={t("reconcile.equal")} next={t("reconcile.equalNext")} />
      ) : (
        <DataTable natural label={t("reconcile.samples")} columns={columns} rows={rows} rowId={(sample) => `${sample.class} ${sample.key} ${rows.indexOf(sample)}`} />
      )}
    </Panel>
  )
}

function Kind({ tile }: { tile: Tile }) {
  const { t } = useTranslation()
  return (
    <span className={classes.kind}>
      <span className={classes.swatch} style={{ background: TILE_COLORS[tile] ?? "var(--series-6)" }} aria-hidden />
      {t(`reconcile.tiles.${tile}`)}
    </span>
  )
}

function At({ place, topic }: { place: Place | null; topic: string | undefined }) {
  if (!place) return <NotApplicable />
  return (
    <Link to="/messages" search={{ mode: "offset", topic, queue: String(place.queue_id), offset: String(place.queue_offset) }}>
      {queueAndOffset(place.queue_id, place.queue_offset)}
    </Link>
  )
}
