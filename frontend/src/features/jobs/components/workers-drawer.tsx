import { IconCircleCheck, IconCircleX } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Badge, UnknownBadge } from "@/components/badges/badge"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { Definitions, Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import { Ago, Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import type { JobWorker, JobWorkers } from "@/lib/api-types"
import { count } from "@/lib/format"
import type { useJobWorkers } from "../api/get-job-workers"
import { runningOf } from "../waiting"
import classes from "./jobs.module.css"
import { WorkersNotice } from "./workers-notice"

interface WorkersDrawerProps {
  query: ReturnType<typeof useJobWorkers>
  onClose: () => void
}

/** Which workers live, what each of them runs, and what waits for them. */
export function WorkersDrawer({ query, onClose }: WorkersDrawerProps) {
  const { t } = useTranslation()
  return (
    <DockedDrawer label={t("jobPages.workers.title")} onClose={onClose}>
      <QueryBody query={query} what={t("jobPages.workers.failed")}>
        {(workers) => <Workers workers={workers} />}
      </QueryBody>
    </DockedDrawer>
  )
}

function Workers({ workers }: { workers: JobWorkers }) {
  const { t } = useTranslation()
  const { items, queued, most_queued: mostQueued, at_once: atOnce, waiting_since: since, are_known: areKnown, yours } = workers
  return (
    <div className={classes.workers}>
      <WorkersNotice workers={workers} />
      <Panel title={t("jobPages.workers.title")} note={items.length}>
        <Definitions
          items={[
            [t("jobPages.workers.running"), t("jobPages.workers.runningOf", { n: count(runningOf(workers)), most: count(atOnce) })],
            [
              t("jobPages.workers.waiting"),
              <>
                {t("jobPages.workers.waitingOf", { n: count(queued), most: count(mostQueued) })}{" "}
                {queued > 0 && (
                  <Link to="/jobs" search={{ state: "queued" }}>
                    {t("jobPages.workers.showWaiting")}
                  </Link>
                )}
              </>,
            ],
            [
              t("jobPages.workers.yours"),
              t("jobPages.workers.yoursOf", { running: count(yours.running), mostRunning: count(yours.most_running), queued: count(yours.queued), most: count(yours.most_queued) }),
            ],
            ...(since ? [[t("jobPages.workers.oldest"), <Time at={since} />] as [string, ReactNode]] : []),
          ]}
        />
      </Panel>
      {items.length === 0 && areKnown && <Empty small title={t("jobPages.workers.none")} next={t("jobPages.workers.noneNext")} />}
      {items.map((worker) => (
        <Panel key={`${worker.name} ${worker.pid}`} title={worker.name} actions={<Alive worker={worker} />}>
          <Definitions
            items={[
              [
                t("jobPages.workers.host"),
                <>
                  <span className="mono">{worker.host}</span> {worker.pid !== null && <span className="micro">{t("jobPages.workers.process", { pid: worker.pid })}</span>}
                </>,
              ],
              [t("jobPages.workers.heard"), <Ago at={worker.heard_at} />],
              [t("jobPages.workers.runs"), <Runs worker={worker} />],
              [t("jobPages.workers.warm"), worker.idle_drivers.length === 0 ? t("jobPages.workers.warmNone") : t("jobPages.workers.warmIn", { pids: worker.idle_drivers.join(t("list.comma")) })],
            ]}
          />
        </Panel>
      ))}
    </div>
  )
}

function Alive({ worker: { is_alive: isAlive } }: { worker: JobWorker }) {
  const { t } = useTranslation()
  if (isAlive === null) return <UnknownBadge>{t("jobPages.workers.notKnown")}</UnknownBadge>
  return isAlive ? (
    <Badge tone="ok" icon={IconCircleCheck}>
      {t("jobPages.workers.alive")}
    </Badge>
  ) : (
    <Badge tone="crit" icon={IconCircleX}>
      {t("jobPages.workers.silent")}
    </Badge>
  )
}

function Runs({ worker: { runs, hidden_runs: hidden, is_alive: isAlive } }: { worker: JobWorker }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (runs.length + hidden === 0) return <>{t("jobPages.workers.nothing")}</>
  return (
    <ul className={classes.runs}>
      {runs.map(({ job_id: id, name, since, attempt, pid, lease_until: lease }) => (
        <li key={id}>
          <Link to="/jobs/$job" params={{ job: id }} search={{}}>
            {name}
          </Link>
          <span className="micro">
            {[
              t("jobPages.workers.since", { time: since ? format.when(since) : "—", n: attempt }),
              pid !== null && t("jobPages.workers.process", { pid }),
              isAlive === false && lease && t("jobPages.workers.lease", { time: format.when(lease) }),
            ]
              .filter(Boolean)
              .join(t("list.comma"))}
          </span>
        </li>
      ))}
      {hidden > 0 && <li>{t("jobPages.workers.hidden", { count: hidden })}</li>}
    </ul>
  )
}
