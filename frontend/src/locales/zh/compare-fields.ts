export const compareFields = {
  compareFields: {
    sql: "SQL",
    keyLeft: "左侧的匹配键",
    keyRight: "右侧的匹配键",
    whereLeft: "左侧条件",
    whereRight: "右侧条件",
    fields: "比较的字段",
    fieldsWords: "不选则只查缺失与多余的消息",
    names: { body: "消息体", tag: "Tag", keys: "Key", properties: "属性" },
    noneWords: "不比较内容，只查缺失与多余的消息",
    values: "比较的值",
    valuesWords: "每行一个：名称: 左侧 SQL | 右侧 SQL | 容差；只写一个 SQL 则两侧相同",
    order: "比较同一键的消息顺序",
    multiset: "计入消息出现的次数",
    lateness: "允许迟到（秒）",
    latenessWords: "可能还会到来的对应消息算迟到，不算缺失",
  },
}
