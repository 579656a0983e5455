import type { alertStory as english } from "../en/alert-story"
import type { Shape } from "../shape"

export const alertStory: Shape<typeof english> = {
  alertStory: {
    pending: "{{metric}}：{{cluster}} 的 {{subject}} 为 {{value}}，阈值 {{limit}}，持续下去将触发。",
    firing: "{{metric}}：{{cluster}} 的 {{subject}} 为 {{value}}，阈值 {{limit}}。",
    no_data: "{{metric}}：无法得知 {{cluster}} 的 {{subject}}，阈值 {{limit}}。",
    acknowledged: "{{metric}}：{{cluster}} 的 {{subject}} 为 {{value}}，阈值 {{limit}}，由 {{by}} 处理。",
    silenced: "{{metric}}：{{cluster}} 的 {{subject}} 为 {{value}}，阈值 {{limit}}，不发通知。",
    resolved: "{{metric}}：{{cluster}} 的 {{subject}} 已恢复到阈值 {{limit}} 以内。",
    unknownValue: "未知",
    silent: "{{cluster}} 的 {{subject}} 无应答。",
    isSo: "{{metric}}：{{cluster}} 的 {{subject}}。",
    underMinute: "不到一分钟",
    taken: "告警已确认",
    takenBack: "已撤销确认",
    notTaken: "告警未确认",
    notTakenBack: "确认未撤销",
  },
  alertAdvice: {
    behind: "查看 {{subject}} 的哪个副本落后：检查其磁盘、网络或 maxHaTransferByteInSecond。",
    outOfSync: "启动 {{subject}} 缺少的副本，或等它追上；不会自行加入的副本及处理办法见该 Broker 的页面。少于 min_in_sync 时拒绝发送。",
    unclean: "让 {{subject}} 的其他副本保持运行，直到不干净的副本补齐可能缺少的内容。",
    withoutMaster: "{{subject}} 拒绝发送。启动它的副本和一个控制器；若仍如此，其页面会说明为何无人当选。",
    refusesSends: "{{subject}} 的页面会说明为何拒绝发送。若同步副本过少，启动或补充缺少的副本，或调低 min_in_sync 与 minInSyncReplicas。",
    stuck: "启动 {{subject}} 中拥有全部已确认消息的副本，或在其页面接受丢失。",
    setBack: "不再对 {{subject}} 作任何决定：启动它的全部副本，或在其页面采纳一个状态。",
    elections: "{{subject}} 换了主节点。其历史说明旧主为何被替换；确认旧主已作为从节点恢复。",
    silent: "启动 {{subject}} 无应答的Name server。",
    leaderless: "在有控制器主持之前，{{subject}} 的主节点不会被替换：检查控制器能否访问其存储。",
    engineDown: "{{subject}} 无法作任何决定：恢复 etcd 的多数成员，或清除其警报。",
    engineUsed: "在 etcd 拒绝写入之前，压缩并整理 {{subject}} 的 etcd，或提高其配额。",
    openCluster: "Broker 与控制器",
  },
}
