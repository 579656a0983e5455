import i18next from "i18next"
import { afterEach, expect, it } from "vitest"
import "@/testing/render"
import { Problem } from "./problem"
import { detailIn, problemIn, reasonIn } from "./reasons"

const t = (text: string) => reasonIn(i18next.t, text)

afterEach(() => i18next.changeLanguage("en"))

it.each([
  ["broker-a at 127.0.0.1:10911 refused the connection", "broker-a（127.0.0.1:10911）拒绝连接"],
  ["name server mq:9876 has a host name that cannot be resolved", "Name server（mq:9876）的主机名无法解析"],
  ["the broker at 10.0.0.1:10911 did not answer within 2.5 s", "Broker（10.0.0.1:10911）在 2.5 秒内无应答"],
  ["the cluster did not answer within 3 s", "集群在 3 秒内无应答"],
])("says %s in Chinese, and leaves English as it is", async (english, chinese) => {
  expect(t(english)).toBe(english)
  await i18next.changeLanguage("zh")
  expect(t(english)).toBe(chinese)
})

/** One sentence of each branch of `reason_of` in console/clusters/reasons.py, as the server writes it. */
const SENTENCES = [
  "broker-a at 127.0.0.1:10911 refused the connection",
  "name server mq:9876 has a host name that cannot be resolved",
  "the broker at 10.0.0.1:10911 cannot be reached: there is no route to it",
  "the broker at 10.0.0.1:10911 did not accept a connection in time",
  "the broker at 10.0.0.1:10911 closed the connection",
  "name server mq:9876 has a certificate that is not trusted: self-signed certificate",
  "name server mq:9876 has a certificate for another host: IP address mismatch",
  "the broker at 10.0.0.1:10911 requires a client certificate",
  "name server mq:9876 does not seem to speak TLS",
  "name server mq:9876 accepts connections with TLS only",
  "the broker at 10.0.0.1:10911 refused the TLS session: unknown ca",
  "the broker at 10.0.0.1:10911 cannot be reached with TLS: internal error",
  "the broker at 10.0.0.1:10911 cannot be reached",
  "the broker at 10.0.0.1:10911 did not answer within 2.5 s",
  "the topic's brokers were not found within 3 s",
  "the broker at 10.0.0.1:10911 sent an answer that cannot be read",
  "mq:9876 does not answer like a name server: another program listens there",
  "mq:9876 is not a name server: it is a broker or another program",
  "the broker at 10.0.0.1:10911 is too busy to answer",
  "the broker at 10.0.0.1:10911 does not support this request",
  "the broker at 10.0.0.1:10911 does not support requests of type 999",
  "name server mq:9876 hosts no controller",
  "the broker at 10.0.0.1:10911 does not support leases; RocketMQ 5 and Gantry do",
  "the broker at 10.0.0.1:10911 does not assign queues to consumers; RocketMQ 5 and Gantry do",
  "the broker at 10.0.0.1:10911 does not keep the message types of topics; RocketMQ 5 and Gantry do",
  "the broker at 10.0.0.1:10911 does not list, move or recall messages that wait; Gantry does",
  "the broker at 10.0.0.1:10911 does not report the settings of one group; RocketMQ 5 and Gantry do",
  "the broker at 10.0.0.1:10911 does not list its producers; RocketMQ 4.9.3, RocketMQ 5 and Gantry do",
  "the broker at 10.0.0.1:10911 does not tell which producers send to a topic; Gantry does",
  "the broker at 10.0.0.1:10911 does not support lite pull; RocketMQ 5 and Gantry do",
  "the broker at 10.0.0.1:10911 filters by tags alone: its enablePropertyFilter is off",
  "the broker at 10.0.0.1:10911 refused: disk full",
  "the broker at 10.0.0.1:10911 refused: it gave no reason",
  "the cluster did not answer within 3 s",
  "no cluster is named 'moon'",
  "the connection to the cluster is closed",
  "broker-b is not listed by any name server",
  "nothing is known of cluster 'east': name server 127.0.0.1:1 refused the connection",
  "broker-a at 127.0.0.1:10911 has not answered yet",
  "no master of broker 'broker-a' is known",
  "another broker answers at 127.0.0.1:10911, where broker-b was",
  "another broker answers at 127.0.0.1:10911",
  "broker-b was not searched: broker-b is not listed by any name server",
  "the broker does not report enablePropertyFilter",
  "no topic is named 'moon'",
  "no broker that answers has a group 'moon'",
  "'TBW102' belongs to the brokers",
  "the group has no offset in a topic 'moon'",
  "the group has no offset in any topic",
  "the search ended after 8 s or 10,000 messages; look this key up again",
  "the name servers list no broker",
]

const CHINESE = /\p{Script=Han}/u

it.each(SENTENCES)("has the reason %s in both languages, bare and as the sentence of a problem", async (reason) => {
  const sentence = `${reason[0]?.toUpperCase()}${reason.slice(1)}.`
  const problem = new Problem(503, { code: "BROKER_UNREACHABLE", detail: sentence })
  expect(t(reason)).toBe(reason)
  expect(problemIn(i18next.t, "en", problem)).toBe(sentence)

  await i18next.changeLanguage("zh")
  const translated = t(reason)
  expect(translated).toMatch(CHINESE)
  expect(translated).not.toMatch(/ (?:the|not|is|refused) /)
  // The gateway capitalises whatever stands first, also a host name, whose case means nothing.
  expect(problemIn(i18next.t, "zh", problem).toLowerCase()).toBe(`${translated}。`.toLowerCase())
})

it("keeps the capital of a name at the start of a sentence", async () => {
  await i18next.changeLanguage("zh")
  const problem = new Problem(503, { code: "BROKER_UNREACHABLE", detail: "Orders-A is not listed by any name server" })
  expect(problemIn(i18next.t, "zh", problem)).toBe("没有 Name server 登记 Orders-A。")
})

it("says in Chinese of what kind a refusal is, and keeps the server's sentence, which names thing and value", async () => {
  const problem = new Problem(422, { code: "INVALID", detail: "rate must be above 0" })
  expect(problemIn(i18next.t, "en", problem)).toBe("rate must be above 0")
  await i18next.changeLanguage("zh")
  expect(problemIn(i18next.t, "zh", problem)).toBe("请求无效（服务器原文：rate must be above 0）")
  expect(problemIn(i18next.t, "zh", new Problem(418, { code: "TEAPOT", detail: "short and stout" }))).toBe("服务器原文：short and stout")
})

it("does not take the words before a name for a part of the name", async () => {
  await i18next.changeLanguage("zh")
  expect(t("nothing is known of cluster 'east': name server 127.0.0.1:1 refused the connection")).toBe("无法得知集群 east 的情况：Name server（127.0.0.1:1）拒绝连接")
  expect(t("since noon the broker at 10.0.0.1:10911 refused the connection")).toBe("since noon the broker at 10.0.0.1:10911 refused the connection")
})

it.each([
  "No native client of group 'billing' is connected. Consumers by lease get these copies only if they receive from topic '%RETRY%billing'; otherwise send to the topics they came from.",
  "It is not known whether a native client of group 'billing' is connected. Consumers by lease get these copies only if they receive from topic '%RETRY%billing'; otherwise send to the topics they came from.",
  "it is known, but no name server lists it for this topic",
  "topic '%DLQ%billing' belongs to the brokers or to a group",
  "only 100 groups are asked for",
  "lists 2 brokers",
  "not listed by 127.0.0.1:9876",
  "Brokers do not record when a group consumed a message.",
  "Copies that replays wrote to other topics are not looked for; the reports of these jobs name them.",
  "Retries of more than 200 groups, or those that took longer than 5 s, were not looked up.",
  "a number from 1 to 64",
  "ASYNC_FLUSH or SYNC_FLUSH",
  "a name of letters, digits, %, |, _ and -",
  "hours of the day like 04 or 04;16",
  "times like 1s 5s 1m 2h 1d",
  "access keys with commas between them, or nothing",
  "networks such as 10.0.0.0/8 with commas between them, or nothing",
  "no topic is named 'moon'; the group has no offset in any topic",
  "no broker answers",
  "The user 'ann', by whose rights it runs, is deactivated. Whoever may start its job can resume it.",
  "The user by whose rights it runs does not exist any more. Whoever may start it can retry it.",
  "The token 'ci' of 'ann', by whose rights it runs, was revoked. Whoever may start it can retry it.",
  "The token 'ci' of 'ann', by whose rights it runs, expired at 2026-05-01T12:00:00.000Z. Whoever may start it can retry it.",
  "The user 'ann', by whose rights it runs, may not start it any more. This needs the right 'bodies' on topic 'orders'. No rule of the role 'mine' allows it, and what no rule allows is refused. Whoever may start it can retry it.",
  "the broker at 10.0.0.1:10911 refused access: it requires an access key",
  "the broker at 10.0.0.1:10911 refused access: it knows no account nobody-here",
  "the broker at 10.0.0.1:10911 refused access: the secret key of account depot-service is wrong",
  "the broker at 10.0.0.1:10911 refused access: account depot-service is not an administrator, which request 28 requires",
  "the broker at 10.0.0.1:10911 refused access: the account has no right for topic orders",
  "the broker at 10.0.0.1:10911 refused access: the account has no right for group billing",
  "the broker at 10.0.0.1:10911 refused access: RequestTimeStamp differs",
  "127.0.0.1 is at 127.0.0.1, which is not public; webhooks may use it if GANTRY_WEBHOOK_NETWORKS has it",
  "hooks.moon.io has no address: Temporary failure in name resolution",
  "hooks.moon.io answered 500",
])("has the sentence %s in both languages", async (sentence) => {
  expect(t(sentence)).toBe(sentence)
  await i18next.changeLanguage("zh")
  expect(t(sentence)).toMatch(CHINESE)
  expect(t(sentence)).not.toMatch(/ (?:the|not|is|at) /)
})

/** As console/broker_accounts/changes.py and reading.py write them, and console/jobs/requests/live.py. */
it.each([
  "Gantry signs its requests to 'local' with the account 'gantry-gateway'; without it Gantry would be refused. Give Gantry another account first.",
  "Gantry signs its requests to 'local' with the account 'gantry-gateway': it would no longer be an administrator, and Gantry would be refused. Give Gantry another account first.",
  "Gantry signs its requests to 'local' with the account 'gantry-gateway': its secret would be another one than Gantry has, and Gantry would be refused. Give Gantry another account first.",
  "Gantry signs its requests to 'local' with the account 'gantry-gateway': the listed rights would be all that it may do, and Gantry would be refused. Give Gantry another account first.",
  "Gantry signs its requests to 'east' with no account: its address may be all that lets it in. Give Gantry an account for this cluster first.",
  "Access control is off: the brokers of 'local' serve everybody and have no accounts. To switch it on, start Gantry with GANTRY_ACL=on.",
  "Access control is off: the brokers of 'east' serve everybody and have no accounts. To switch it on, set aclEnable=true in the broker's configuration file and restart it.",
  "broker: queue 0 of topic 'orders' is on broker-a, broker-b: say on which one.",
  "broker: queue 5 of topic 'orders' is on broker-a, not on 'broker-b'.",
  "Which groups read topic 'orders' is not known: broker-b at 10.0.0.2:10911 did not answer within 2 s; with allow_live_target the job starts without knowing them.",
])("has the refusal %s in Chinese as a whole", async (detail) => {
  const problem = new Problem(409, { code: "OWN_ACCOUNT", detail })
  expect(problemIn(i18next.t, "en", problem)).toBe(detail)
  await i18next.changeLanguage("zh")
  expect(problemIn(i18next.t, "zh", problem)).toMatch(CHINESE)
  expect(problemIn(i18next.t, "zh", problem)).not.toMatch(/服务器原文| (?:the|not|is|would) /)
})

it("says of one of many that was refused what it would say of a single one", async () => {
  const refused = "This needs the right 'manage' on group 'billing'. No rule of the role viewer allows it."
  expect(t(refused)).toBe(refused)
  await i18next.changeLanguage("zh")
  expect(t(refused)).toBe("需要对 billing 的权限：管理。角色中没有允许它的规则")
})

it.each([
  ["Ensure this value is less than or equal to 1024.", "最大为 1024"],
  ["Must be at most 1,024.", "最大为 1,024"],
  ["This password is too common.", "该密码过于常见"],
  ["This password is too short. It must contain at least 8 characters.", "密码过短，至少 8 个字符"],
  ["This field may not be blank.", "不能为空"],
  ["must be after from", "必须晚于开始时间"],
  ["must be a number from 1 to 1000", "必须是 1 到 1000 之间的数"],
  ["No User matches the given query.", "用户不存在"],
  ["retry_max_times: Ensure this value is less than or equal to 1000.", "retry_max_times：最大为 1000"],
  ["to: must be after from.", "to：必须晚于开始时间"],
  ["There is no schedule 's7'.", "定时任务 s7 不存在"],
  ["topic 'moon' does not exist", "Topic moon 不存在"],
  ["User 'olga' already exists.", "olga 已存在"],
  ["defaultTopicQueueNums: '99999999' is not a number from 1 to 65536.", "defaultTopicQueueNums：99999999 不符合要求，应为：1 到 65536 之间的整数"],
  ["autoCreateTopicEnable: 'maybe' is not true or false.", "autoCreateTopicEnable：maybe 不符合要求，应为：true 或 false"],
  ["broker-a has no setting 'moon'; read its settings for the names that it has.", "broker-a 没有设置项 moon"],
  ["'listenPort' cannot be changed safely while broker-a runs; set it on its command line.", "broker-a 运行时不能安全修改 listenPort，应通过其命令行设置"],
  ["This needs the right 'produce' on 'orders'.", "需要对 orders 的权限：发送"],
  ["The group is already at these offsets.", "消费组已在这些位点"],
  ["Message C0A8 of 'orders' does not wait any more: it was recalled.", "orders 的消息 C0A8 已不在等待：已投递或已撤回"],
  ["Group 'billing' has no offset in these queues, so there is nothing to go by.", "消费组 billing 在这些队列中没有位点，无从推算"],
  ["is not JSON", "不是有效的 JSON"],
  ["There is a rule 'too far behind' already.", "too far behind 已存在"],
  ["The name 'TBW102' is reserved by brokers.", "名称 TBW102 由 Broker 保留"],
  ["The message would wait 187 days 1 h 32 min 23 s; cluster 'local' keeps messages for at most 3 days (timerMaxDelaySec=259200).", "投递时间过远：集群 local 最多延迟 3 天，此消息需等待 187 天 1 小时 32 分 23 秒"],
  ["The message would wait 3 days 1 ms; cluster 'local' keeps messages for at most 3 days (timerMaxDelaySec=259200).", "投递时间过远：集群 local 最多延迟 3 天，此消息需等待 3 天 1 毫秒"],
  ["No message of topic 'orders' has the id 'A1': it waits for its delivery time, 2026-05-01T08:00:00.000Z; see /scheduled/A1.", "Topic orders 的消息 A1 尚未到投递时间：见定时消息页面"],
  ["No message of topic 'orders' has the id 'A1': it waited for a delivery time, and was delivered or recalled.", "Topic orders 中没有 ID 为 A1 的消息：它曾等待投递，已投递或已撤回"],
  ["deliver_at: the broker at 127.0.0.1:10911 keeps messages for at most 3 days; this one would wait 1 day 4 h.", "deliver_at：Broker（127.0.0.1:10911）最多延迟 3 天，此消息需等待 1 天 4 小时"],
  ["'x' is not a field here; known: cluster, groups.", "没有字段 x，可用的字段：cluster, groups"],
  ["'wide' is not a parameter here; there are none.", "不支持 wide"],
  ["severity must be one of info, warning, not 'x'.", "severity：只能是以下之一：info, warning"],
  ["The body must be an object, not a list.", "必须是对象"],
  ["topics/0 must be a text, not the number 1.", "topics/0：必须是文本"],
  ["Topic 'demo-orders' already exists with other settings on broker-a.", "demo-orders 已存在，且在 broker-a 上的配置不同"],
  ["Consumer group 'demo-billing' already exists.", "demo-billing 已存在"],
  ["No consumer group is named 'gibtsnicht'.", "没有名为 gibtsnicht 的消费组。"],
  ["No message of topic 'demo-orders' has the id 'nothere'.", "Topic demo-orders 中没有 ID 为 nothere 的消息"],
  ["'abc:99999' does not have the form host:port", "abc:99999 不是“主机:端口”的格式，端口为 1 到 65535"],
  ["There are 200 alert rules, and more are not allowed; delete one first.", "已达 200 个的上限，需先删除一个"],
  ["You have 50 saved searches, which is the most; remove one first.", "已达 50 个的上限，需先删除一个"],
  ["The plan expired at 2026-05-01T08:00:00.000Z; preview the change again.", "预览已过期，需重新预览"],
  ["'$..x' is not a path such as $.order.items[0].price.", "$..x 不是 $.order.items[0].price 这样的路径"],
  ["The message has 5,000,000 bytes; brokers accept at most 4,194,304.", "消息共 5,000,000 字节，Broker 最多接受 4,194,304 字节"],
  ["pattern: 'a b' matches no name: names have letters, digits, '_', '-', '%' and '|'.", "pattern：a b 不匹配任何名称；名称只含字母、数字、_、-、% 和 |"],
  ["'produce' is allowed by the same rule", "同一条规则已允许 produce，不能同时拒绝"],
  ["Nothing to change: give name_servers or address_map.", "没有要修改的内容"],
  ["Earlier changes of 'orders' are still running; try again later.", "orders 之前的修改仍在进行，稍后再试"],
  ["Schedule 'nightly' starts jobs of cluster 'east'. Switch it off or delete it first.", "定时任务 nightly 会启动集群 east 的任务，需先停用或删除它"],
  ["Job j7 (copy orders) of cluster 'east' is running. Cancel it, or wait until it ends.", "集群 east 的任务 copy orders 尚未结束，需先取消它或等它结束"],
  ["100 of your jobs wait already, and at most 100 of one user may (GANTRY_JOBS_QUEUED_PER_USER); try again when some have ended, or cancel some.", "已有 100 个自己的任务在排队；每个用户最多 100 个"],
  ["Topic 'gone' was deleted; the transaction stays open: create the topic, or roll it back.", "Topic gone 已被删除，事务保持未决：需先创建该 Topic，或回滚事务"],
  ["'no-such*topic 中文' is not a name of a topic or group", "no-such*topic 中文 不是有效的 Topic 或消费组名称"],
  ["'10.20.x' is not an address", "10.20.x 不是有效的地址"],
  ["no certificate in PEM form", "不是 PEM 格式"],
  ["The moon is full; the tide is high.", "服务器原文：The moon is full; the tide is high."],
  ["The signature of the id is wrong: it was changed or truncated.", "事务 ID 被改动过或不完整"],
  ["The text is not a transaction id of this gateway.", "这不是本网关的事务 ID"],
  ["The transaction is one of cluster 'east'.", "该事务属于集群 east"],
  ["The half message C0A8 of the transaction is not stored any more.", "该事务的半消息 C0A8 已不在存储中"],
  ["must be at most 60 minutes, the limit of GANTRY_JOBS_MINUTES", "最多 60 分钟，这是服务器的上限"],
  ["200 jobs wait already, and no more are taken (GANTRY_JOBS_QUEUED); try again when some have ended, or cancel some.", "已有 200 个任务在排队，不再接受新任务"],
  ["target/topic: is required for a target of the kind topic.", "target/topic：必填"],
  ["names 40 properties; at most 32 are set", "最多 32 个"],
  ["names body, tag twice", "重复：body, tag"],
  ["must be a number from 1 to 1000 for a redrive", "必须是 1 到 1000 之间的数"],
  ["'{{ x }}' is not a moment; allowed are {{ last_success }} and times before", "{{ x }} 不是有效的时间"],
  ["cannot go with offsets, which name queues and ranges", "不能与按队列给出的位点范围同时使用"],
  ["either table or query is required", "需填写表名或查询，二者选一"],
  ["does not belong to a target of the kind parquet", "目标为 Parquet 文件时不能使用"],
  ["this job sends no messages, so it has no rate", "此任务不发送消息，没有速率"],
  ["Job j7 is succeeded; it cannot be paused.", "任务当前状态不允许此操作"],
  ["Job j7 is being cancelled; it cannot be resumed.", "任务当前状态不允许此操作"],
  ["cannot go with a tolerance", "不能与容差同时使用"],
  ["is that of all messages of a key, and multiset leaves some out", "顺序涉及同一 Key 的全部消息，不能略去其中一部分"],
  ["'{{ last_success }}' refers to the runs of a schedule, and this job has none; give a moment, such as 2026-05-01T08:00:00Z", "{{ last_success }} 只能用于定时任务"],
  ["only a schedule that is paused has one", "只有暂停的定时任务才有原因"],
  ["The moon is full.", "服务器原文：The moon is full."],
])("says of a field in Chinese: %s", async (detail, chinese) => {
  expect(detailIn(i18next.t, "en", detail)).toBe(detail)
  await i18next.changeLanguage("zh")
  expect(detailIn(i18next.t, "zh", detail)).toBe(chinese)
})
