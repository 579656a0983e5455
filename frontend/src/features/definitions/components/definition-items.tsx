import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import type { AppliedDefinition, PlannedDefinition } from "@/lib/api-types"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { valueWords } from "../given-definitions"

const SHOWN = 200

interface Item {
  section: PlannedDefinition["section"]
  cluster: string | null
  name: string
}

interface ItemsProps<T extends Item> {
  label: string
  rows: T[]
  what: (row: T) => string
  detail: (row: T) => ReactNode
}

/** The first items of a plan or of its outcome, and how many more there are. */
function Items<T extends Item>({ label, rows, what, detail }: ItemsProps<T>) {
  const { t } = useTranslation()
  const column = columnsFor<T>()
  const columns = [
    column("name", t("definitions.item"), { isName: true }, ({ name }) => name),
    column("section", t("definitions.section"), { minWidth: 420 }, ({ section }) => t(`definitions.sections.${section}`)),
    column("cluster", t("definitions.cluster"), { minWidth: 620, isSecondary: true }, ({ cluster }) => cluster ?? "—"),
    column("what", t("definitions.what"), {}, what),
    column("detail", t("definitions.detail"), { minWidth: 520 }, detail),
  ]
  return (
    <>
      <DataTable natural label={label} columns={columns} rows={rows.slice(0, SHOWN)} rowId={({ section, cluster, name }) => `${section} ${cluster} ${name}`} />
      {rows.length > SHOWN && <p className="micro">{t("definitions.moreItems", { n: count(rows.length - SHOWN) })}</p>}
    </>
  )
}

/** What would be created, changed or refused. */
export function PlannedItems({ rows }: { rows: PlannedDefinition[] }) {
  const { t } = useTranslation()
  const words = ({ changes, reason }: PlannedDefinition) =>
    reason === null ? changes.map(({ field, before, after }) => `${field}: ${valueWords(before)} → ${valueWords(after)}`).join(t("list.comma")) : reasonIn(t, reason)
  return <Items label={t("definitions.plan")} rows={rows} what={({ action }) => t(`definitions.actions.${action}`)} detail={words} />
}

/** What became of each. */
export function AppliedItems({ rows }: { rows: AppliedDefinition[] }) {
  const { t } = useTranslation()
  const words = ({ reason, brokers }: AppliedDefinition) => {
    const failed = brokers.filter(({ done }) => !done).map((each) => `${each.broker}: ${reasonIn(t, each.reason ?? "")}`)
    return reason === null ? failed.join("; ") : reasonIn(t, reason)
  }
  return <Items label={t("definitions.outcome")} rows={rows} what={({ result }) => t(`definitions.results.${result}`)} detail={words} />
}
