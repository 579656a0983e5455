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
    underMinute: "不到一分钟",
    taken: "告警已确认",
    takenBack: "已撤销确认",
    notTaken: "告警未确认",
    notTakenBack: "确认未撤销",
  },
}
