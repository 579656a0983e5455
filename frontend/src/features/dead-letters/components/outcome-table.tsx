import { IconArrowForwardUp, IconCircleCheck, IconCircleX, IconHelpCircle } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Ident } from "@/components/values/ident"
import { Time } from "@/components/values/time"
import type { RedriveOutcome } from "@/lib/api-types"
import { queueAndOffset, shortId } from "@/lib/format"
import classes from "./dead-letters.module.css"

const LOOKS = {
  redriven: { tone: "ok", icon: IconCircleCheck },
  failed: { tone: "crit", icon: IconCircleX },
  skipped: { tone: "grey", icon: IconArrowForwardUp },
  unknown: { tone: "warn", icon: IconHelpCircle },
} as const

const column = columnsFor<RedriveOutcome>()

export function OutcomeTable({ title, rows }: { title: string; rows: RedriveOutcome[] }) {
  const { t } = useTranslation()
  const columns = useMemo(
    () => [
      column("at", t("deadLetters.time"), { minWidth: 520 }, ({ at }) => <Time at={at} withMs />),
      column("id", t("deadLetters.id"), { isName: true }, ({ message_id: id }) => <Ident id={id} />),
      column("key", t("deadLetters.key"), { isSecondary: true, minWidth: 680 }, ({ keys }) => keys.join(" ")),
      column("outcome", t("deadLetters.outcome"), {}, ({ outcome }) => <Badge {...LOOKS[outcome]}>{t(`deadLetters.outcomes.${outcome}`)}</Badge>),
      column("why", t("deadLetters.whereOrWhy"), {}, (row) => <span className={classes.why}><WhereOrWhy row={row} /></span>),
      column("original", t("deadLetters.original"), { isSecondary: true, minWidth: 600 }, ({ original }) => t(`deadLetters.original_.${original}`)),
    ],
    [t],
  )
  return <DataTable natural label={title} columns={columns} rows={rows} rowId={({ broker, queue_id, offset }) => `${broker} ${queue_id} ${offset}`} />
}

function WhereOrWhy({ row }: { row: RedriveOutcome }) {
  const { t } = useTranslation()
  if (row.outcome === "failed" || row.outcome === "unknown") return <span title={row.copy_id ?? undefined}>{row.why}</span>
  if (row.outcome === "skipped") return <span title={row.copy_id ?? undefined}>{t("deadLetters.sentBefore", { id: shortId(row.copy_id ?? "") })}</span>
  return (
    <span title={row.copy_id ?? undefined}>
      {row.topic} {queueAndOffset(row.target_queue_id ?? 0, row.target_offset ?? 0)}
    </span>
  )
}
