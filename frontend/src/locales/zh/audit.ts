export const auditSearch = {
  words: "按关键词搜索",
  address: "按来源地址筛选",
  anyResult: "全部结果",
  from: "起始时间",
  to: "截止时间",
  export: "导出",
  csv: "CSV（全部搜索结果）",
  jsonl: "JSON Lines（全部搜索结果）",
  none: "没有匹配的记录",
  noneNext: "减少筛选条件，或扩大时间范围。",
}
