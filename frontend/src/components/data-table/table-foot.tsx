import { UnstyledButton } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { csvOf } from "@/lib/csv"
import { saveFile } from "@/lib/save-file"
import classes from "./data-table.module.css"

interface TableFootProps {
  label: string
  rows: readonly object[]
  /** Whether the server has rows that were not loaded yet. */
  hasMore: boolean
}

/** How many rows are here, and all of their fields as a CSV file; nothing below an empty table. */
export function TableFoot({ label, rows, hasMore }: TableFootProps) {
  const { t } = useTranslation()
  if (rows.length === 0) return null
  const name = `${label.toLowerCase().replaceAll(/[^\p{L}\p{N}%_-]+/gu, "-")}.csv`
  const save = () => saveFile(name, "text/csv;charset=utf-8", csvOf(rows))
  return (
    <div className={classes.foot}>
      <span>{t(hasMore ? "table.loadedRows" : "table.rows", { count: rows.length })}</span>
      <UnstyledButton onClick={save} title={t("table.csvHint")}>
        <IconDownload size={13} stroke={1.6} aria-hidden /> CSV
        <span className="sr-only">: {label}</span>
      </UnstyledButton>
    </div>
  )
}
