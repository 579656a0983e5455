import { Button } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Panel } from "@/components/layout/panel"
import { paths } from "@/config/paths"
import type { Job } from "@/lib/api-types"
import { bytes } from "@/lib/format"

const column = columnsFor<Job["artefacts"][number]>()

const REPORTED = { "differences.csv": "CSV", "differences.parquet": "Parquet" } as const

/** The files with every difference, at the head of a report. */
export function ReportDownloads({ job }: { job: Job }) {
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

/** The files a job left behind. */
export function JobArtefacts({ job }: { job: Job }) {
  const { t } = useTranslation()
  const columns = useMemo(
    () => [
      column("name", t("jobs.file"), { isName: true }, ({ name }) => <span className="mono">{name}</span>),
      column("kind", t("jobs.kind"), { isSecondary: true }, ({ kind }) => kind),
      column("bytes", t("jobs.size"), { align: "end" }, (file) => bytes(file.bytes)),
      column("get", "", { align: "end" }, ({ name }) => (
        <Button
          size="xs"
          component="a"
          href={paths.jobArtefact(job.id, name)}
          download={name}
          leftSection={<IconDownload size={14} stroke={1.6} />}
        >
          {t("actions.download")}
        </Button>
      )),
    ],
    [t, job.id],
  )
  if (job.artefacts.length === 0) return null
  return (
    <Panel title={t("jobs.artefacts")} note={job.artefacts.length}>
      <DataTable natural label={t("jobs.artefacts")} columns={columns} rows={job.artefacts} rowId={({ name }) => name} />
    </Panel>
  )
}
