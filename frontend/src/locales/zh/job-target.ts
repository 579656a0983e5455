export const jobTarget = {
  jobTarget: {
    kind: "写入到",
    kinds: { topic: "Topic", parquet: "Parquet 文件" },
    topicWords: "副本发送到本集群或其他集群的 Topic",
    parquetWords: "生成一个任务文件，不发送消息",
    file: "任务的 Parquet 文件",
    copies: "副本的发送方式",
    order: "保持顺序",
    orders: { queue: "按队列", key: "按 Key" },
    orderWords: {
      queue: "同一队列的消息发往同一队列，顺序不变",
      key: "同一 Key 的消息发往生产者按哈希选择的队列",
    },
    keep: { unique_id: "保留消息 ID", born_at: "保留发送时间" },
    keepWords: {
      unique_id: "可用原消息的 ID 查到副本",
      born_at: "副本的发送时间与原消息相同",
    },
    keysFile: "Key 文件",
    keysFileWords: "服务器上任务文件夹内的文本文件，每行一个 Key；与上面的 Key 一并生效",
  },
}
