import { Button } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Callout } from "@/components/layout/panel"
import { QueryPanel } from "@/components/states/query-panel"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import type { Job, JobArtefacts as Listed } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"
import { useJobArtefacts } from "../api/get-job-artefacts"

const column = columnsFor<Listed["items"][number]>()

const REPORTED = { "differences.csv": "CSV", "differences.parquet": "Parquet" } as const

/** The files with every difference, at the head of a report; none that its reader may not download, which the list of files says. */
export function ReportDownloads({ job }: { job: Job }) {
  const files = useJobArtefacts(job).data
  if (files?.hidden !== null) return null
  return (
    <>
      {Object.entries(REPORTED).map(
        ([name, label]) =>
          job.artefacts.some((file) => file.name === name) && (
            <Button key={name} component="a" href={paths.jobArtefact(job.id, name)} download={name} leftSection={<IconDownload size={15} stroke={1.6} />}>
              {label}
            </Button>
          ),
      )}
    </>
  )
}

/** The files a job left behind, and until when they are there. */
export function JobArtefacts({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  const files = useJobArtefacts(job)
  const { hidden, keep_until: until } = files.data ?? {}
  const columns = useMemo(
    () => [
      column("name", t("jobs.file"), { isName: true }, ({ name }) => <span className="mono">{name}</span>),
      column("kind", t("jobs.kind"), { isSecondary: true, minWidth: 480 }, ({ kind }) => kind),
      column("bytes", t("jobs.size"), { align: "end" }, (file) => bytes(file.bytes)),
      column("get", "", { align: "end" }, ({ name }) =>
        hidden ? <span className="micro">{t("jobPages.files.hidden", { right: t(`rights.${hidden as "bodies"}`) })}</span> : <Download id={job.id} name={name} />,
      ),
    ],
    [t, job.id, hidden],
  )
  if (job.files_removed_at !== null || job.artefacts.length === 0) return null
  const n = count(job.artefacts.length)
  return (
    <QueryPanel
      query={files}
      title={t("jobs.artefacts")}
      note={until ? t("jobPages.files.keptUntil", { n, time: format.when(until) }) : t("jobPages.files.keptAfter", { n })}
      what={t("jobPages.files.failed")}
    >
      {({ items }) => <DataTable natural label={t("jobs.artefacts")} columns={columns} rows={items} rowId={({ name }) => name} />}
    </QueryPanel>
  )
}

function Download({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation()
  return (
    <Button size="xs" component="a" href={paths.jobArtefact(id, name)} download={name} aria-label={`${t("actions.download")} ${name}`} leftSection={<IconDownload size={14} stroke={1.6} />}>
      {t("actions.download")}
    </Button>
  )
}

const BY_AGE = /^(?<days>\d+) days after its end$/
const BY_SIZE = /^since the files of all jobs had more than (?<mib>[\d,]+) MiB$/

/** Says that the files of a job are gone, when and why. */
export function RemovedFiles({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  const why = useJobArtefacts(job).data?.removed_reason ?? ""
  if (job.files_removed_at === null) return null
  const days = BY_AGE.exec(why)?.groups?.days
  const mib = BY_SIZE.exec(why)?.groups?.mib
  const reason = days ? t("jobPages.files.byAge", { days }) : mib ? t("jobPages.files.bySize", { mib }) : ""
  return <Callout>{t("jobPages.files.removed", { time: format.when(job.files_removed_at), reason })}</Callout>
}
