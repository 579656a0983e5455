export const groupOffsets = {
  groupOffsets: {
    open: "修改位点…",
    title_other: "修改 {{n}} 个消费组的位点",
    group: "消费组",
    lag: "堆积",
    newLag: "修改后堆积",
    unchanged: "已在该位置",
    membersUnknown: "无法得知有多少客户端连接。Apache RocketMQ 4.9 只有在客户端停止后才能修改消费组的位点。",
    noMembers: "这些消费组没有原生客户端连接。",
    members_other: "有 {{n}} 个客户端连接。Gantry 和 RocketMQ 5 会让它们同步到新位点；RocketMQ 4.9 须先停止客户端，否则其消费组的位点不会修改。",
    apply_other: "应用 {{n}} 个计划",
    undoAll: "全部撤销",
    moved: "{{of}} 个计划中完成了 {{n}} 个。每项修改都可以在这里或消费组的位点页撤销。",
    undone: "{{of}} 项修改中撤销了 {{n}} 项。",
    outcomes: { done: "已完成", partial: "部分队列未完成", failed: "未修改", refused: "未处理" },
  },
}
