export const purge = {
  purge: {
    menu: "清空 Topic",
    title: "清空 Topic {{topic}}",
    named: "清空 {{topic}}",
    done: "Topic {{topic}} 已清空",
    notDone: "Topic {{topic}} 未清空",
    unknown: "无法得知清空会影响什么",
    nothing: "该 Topic 没有可读取的消息。",
    size: "它们占用存储 {{size}}，保留期到期后随文件删除而释放。",
    allRead: "所有消费组都已消费这些消息。",
    noGroup: "没有消费组消费该 Topic：这些消息无人读取过。",
    unread_other: "有 {{n}} 条尚未消费，将被跳过",
    unreadUnknown: "可能丢失消息，数量未知：{{reason}}",
    hidden_other: "另有 {{count}} 个无权查看的消费组也消费它。",
    missing: "{{broker}} 上的队列不会清空：{{reason}}。",
    final: "此操作无法撤销。位点继续递增，此后到达的消息和等待定时投递的消息保留。",
  },
}
