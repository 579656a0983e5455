export const auditSearch = {
  words: "Search by words",
  address: "Filter by address",
  anyResult: "Any result",
  from: "From",
  to: "Before",
  export: "Export",
  csv: "CSV, all that was found",
  jsonl: "JSON Lines, all that was found",
  none: "No record matches",
  noneNext: "Remove a filter, or widen the time range.",
}
