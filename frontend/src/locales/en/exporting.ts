export const exporting = {
  exporting: {
    title: "Export messages",
    titleOf: "Export messages of {{topic}}",
    file: "File",
    format: "Format",
    formatWords: "one file, ordered by queue and offset",
    formats: { csv: "CSV", jsonl: "JSON Lines", parquet: "Parquet" },
    columns: "Columns",
    columnsWords: "in this order; empty for the usual ones",
    usualColumns: "the usual ones; bodies and properties only with the right “{{right}}” on the topic",
    masked: "The file has no bodies and no properties: they need the right “{{right}}” on the topic. A condition needs it too.",
    willBe: "messages will be exported",
    beginsAnew: "it begins anew",
    start_one: "Export {{n}} message",
    start_other: "Export {{n}} messages",
    startRange: "Export this range",
  },
}
