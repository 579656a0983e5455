export const notifying = {
  notifying: {
    label: "通知",
    words: "任务结束时通知这些告警渠道；留空则不通知",
    none: "还没有通知渠道；可在“告警 → 通知渠道”中创建",
    failed: "无法读取通知渠道",
    off: "{{name}}（已停用）",
    gone: "{{id}}（已删除）",
    ends: "通知的结果",
    endsWords: "至少选一项；不选渠道则不通知",
  },
}
