export const exporting = {
  exporting: {
    title: "导出消息",
    titleOf: "导出 {{topic}} 的消息",
    file: "文件",
    format: "格式",
    formatWords: "一个文件，按队列和位点排序",
    formats: { csv: "CSV", jsonl: "JSON Lines", parquet: "Parquet" },
    columns: "列",
    columnsWords: "按此顺序；留空则用默认列",
    usualColumns: "默认列；消息体和属性需要该 Topic 的“{{right}}”权限",
    masked: "文件不含消息体和属性：需要该 Topic 的“{{right}}”权限。使用条件也需要该权限。",
    willBe: "条消息将被导出",
    beginsAnew: "从头重新开始",
    start_other: "导出 {{n}} 条消息",
    startRange: "导出该范围",
  },
}
