export const groupImpact = {
  groupImpact: {
    failed: "无法得知删除会影响什么",
    readers_other: "{{n}} 个客户端正在使用它，之后会被当作新消费组处理。",
    noReaders: "没有客户端使用它。",
    readersUnknown: "使用它的客户端数量未知。",
    leases_other: "{{n}} 条已投递的消息将无法再确认。",
    leasesUnknown: "已投递而未确认的消息数量未知。",
    positions_other: "它在 {{count}} 个 Topic 中的位点将丢失：{{topics}}。",
    noPositions: "它没有会丢失的位点。",
    lag_other: "{{n}} 条消息尚未消费。",
    lagUnknown: "尚未消费的消息数量未知。",
    kept_other: "{{topic}} 保留，其中有 {{n}} 条消息。",
    keptUnknown: "{{topic}} 保留，消息数量未知：{{reason}}",
  },
}
