import { renderHook } from "@testing-library/react"
import i18next from "i18next"
import { afterEach, expect, it } from "vitest"
import type { AuditEntry } from "@/lib/api-types"
import "@/testing/render"
import actions from "@/testing/audit-actions.json"
import { useAuditWords } from "./use-sentence"

const entry = (action: string, resource: string, result: string): AuditEntry =>
  ({ id: 1, at: "2026-11-21T06:00:00Z", actor: "olga", token: null, action, resource, result, request_id: "r", before: null, after: null }) as AuditEntry

const words = () => renderHook(() => useAuditWords()).result.current

afterEach(() => i18next.changeLanguage("en"))

it.each([
  ["group.offsets", "修改消费组的位点"],
  ["topic.purge", "清空 Topic"],
  ["user.password", "修改用户的密码"],
])("says %s without a name in Chinese, with blanks beside Latin letters only", async (action, chinese) => {
  await i18next.changeLanguage("zh")
  expect(words().action(action)).toBe(chinese)
})

it.each([
  ["topic.create", "local/topics/orders", "ok", "olga created topic orders", "olga 创建了 Topic orders"],
  ["topic.delete", "local/topics/shipments-of-the-north", "ok", "olga deleted topic shipments-of-the-north", "olga 删除了 Topic shipments-of-the-north"],
  ["replay.cancel", "jobs/0198f1c2-77aa-7000-8000-00000061e8b2", "ok", "olga cancelled replay 0198…61e8b2", "olga 取消了重放任务 0198…61e8b2"],
  ["group.delete", "local/groups/billing", "refused", "olga tried to delete group billing: refused", "olga 尝试删除消费组 billing：被拒绝"],
  ["session.login", "users/olga", "failed", "olga tried to sign in: failed", "olga 尝试登录：失败"],
  ["audit.export", "audit", "ok", "olga exported the audit log", "olga 导出了审计日志"],
  ["alert_rule.create", "alert-rules/behind", "ok", "olga created alert rule behind", "olga 创建了告警规则 behind"],
  ["alert_channel.delete", "alert-channels/mail", "ok", "olga deleted alert channel mail", "olga 删除了告警渠道 mail"],
  ["alert_channel.test", "alert-channels/mail", "ok", "olga sent a test to alert channel mail", "olga 向告警渠道 mail 发送了测试通知"],
  ["message.recall", "local/topics/orders", "ok", "olga recalled a message for topic orders", "olga 撤回了 Topic orders 的一条定时消息"],
  ["silence.end", "silences/7", "ok", "olga ended silence 7", "olga 结束了静默 7"],
  ["delivery.retry", "deliveries/9", "ok", "olga sent delivery 9 again", "olga 重新发送了通知 9"],
  ["user.session_end", "users/nadia", "ok", "olga ended a session of user nadia", "olga 结束了用户 nadia 的一个会话"],
  ["broker.forget", "local/brokers/broker-b", "ok", "olga forgot broker broker-b", "olga 移除了 Broker broker-b"],
  ["group.clone", "local/groups/billing-2", "ok", "olga made group billing-2 like another one", "olga 克隆出了消费组 billing-2"],
  ["definitions.apply", "definitions", "partial", "olga tried to apply definitions: partly done", "olga 尝试应用定义文件：部分完成"],
  ["search.create", "searches/7", "ok", "olga created saved search 7", "olga 创建了已保存的查询 7"],
  ["note.update", "local/topics/orders", "ok", "olga changed the note of topic orders", "olga 修改了 Topic 备注 orders"],
  ["replica.promote", "local/brokers/broker-a/replicas/2", "ok", "olga made replica 2 (broker-a) master", "olga 将副本 2 (broker-a) 设为主副本"],
  ["replica.remove", "local/brokers/broker-a/replicas/3", "failed", "olga tried to forget replica 3 (broker-a): failed", "olga 尝试移除副本 3 (broker-a)：失败"],
  ["replica.accept_loss", "local/brokers/broker-a/replicas/2", "ok", "olga accepted a loss and made replica 2 (broker-a) master", "olga 接受丢失并将副本 2 (broker-a) 设为主副本"],
  ["replica.adopt", "local/brokers/broker-a", "ok", "olga adopted a state of broker broker-a", "olga 采纳了 Broker broker-a 的状态"],
  ["replica.policy", "local/brokers/broker-a", "ok", "olga changed the policy of broker broker-a", "olga 修改了 Broker broker-a 的副本策略"],
  ["access.post", "/api/v1/clusters", "refused", "olga was not allowed to call /api/v1/clusters", "olga 无权调用 /api/v1/clusters"],
  ["access.get", "/api/v1/users", "refused", "olga was not allowed to read /api/v1/users", "olga 无权读取 /api/v1/users"],
])("says %s of %s, %s, as a sentence", async (action, resource, result, english, chinese) => {
  expect(words().sentence(entry(action, resource, result))).toBe(english)
  await i18next.changeLanguage("zh")
  expect(words().sentence(entry(action, resource, result))).toBe(chinese)
})

it("names actions and results in the language of the reader, and leaves unknown ones as they are", async () => {
  expect(words().action("user.password")).toBe("change the password of user")
  await i18next.changeLanguage("zh")
  expect(words().action("schedule.update")).toBe("修改定时任务")
  expect(words().result("refused")).toBe("被拒绝")
  expect(words().action("access.delete")).toBe("无权删除")
  expect(words().action("moon.paint")).toBe("moon.paint")
})

it.each(["en", "zh"])("has words in %s for every action that is recorded", async (language) => {
  await i18next.changeLanguage(language)
  expect(actions.filter((action) => words().action(action) === action)).toEqual([])
  expect(actions.filter((action) => words().sentence(entry(action, "local/x/y", "ok")).includes(action))).toEqual([])
})
