import type { UrlState } from "@/hooks/use-url-state"
import type { JobRequest } from "@/lib/api-types"

export type ExportColumn = NonNullable<JobRequest["columns"]>[number]

/** Every column that a file can have, in the order of the data source. */
export const COLUMNS: readonly ExportColumn[] = [
  "topic", "broker", "queue_id", "queue_offset", "log_offset", "message_id", "unique_id", "key", "keys", "tag", "body", "properties", "born_timestamp",
  "store_timestamp", "born_host", "flag", "sys_flag", "reconsume_times", "body_size", "record_size", "prepared_offset", "store_host", "offset_id",
  "properties_text", "crc_ok",
]

/** What a file has where no columns are named; the server leaves out those that show contents if its user may not read them. */
const USUAL: readonly ExportColumn[] = ["broker", "queue_id", "queue_offset", "store_timestamp", "born_timestamp", "message_id", "keys", "tag", "body", "properties"]

/** Columns that show what stands in messages. */
const CONTENTS: ReadonlySet<ExportColumn> = new Set(["body", "properties", "properties_text"])

export const showsContents = (column: ExportColumn): boolean => CONTENTS.has(column)

/** The columns of the file, as far as it is known what its user may read. */
export function columnsOf({ cols }: UrlState, mayReadBodies: boolean): ExportColumn[] {
  if (cols) return cols.split(",").filter((name): name is ExportColumn => COLUMNS.some((known) => known === name))
  return USUAL.filter((name) => mayReadBodies || !CONTENTS.has(name))
}
