export const groupClone = {
  groupClone: {
    open: "克隆消费组",
    title: "克隆消费组 {{source}}",
    action: "克隆为 {{group}}",
    words: "新消费组沿用 {{source}} 的配置。重试消息和死信仍属于原消费组。",
    offsets: "从 {{source}} 的位点开始",
    offsetsWords: "否则由第一个客户端决定起点。",
    done: "消费组 {{group}} 已从 {{source}} 克隆",
    notDone: "消费组 {{source}} 未克隆",
    notAllOffsets: "消费组 {{group}} 已创建，但部分位点未复制",
    topicStuck: "{{topic}}：{{queues}} 个队列中复制了 {{copied}} 个。{{reason}}",
    brokerSilent: "{{broker}} 未返回位点：{{reason}}",
  },
}
