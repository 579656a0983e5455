import i18next from "i18next"
import { afterEach, expect, it } from "vitest"
import "@/testing/render"
import { Problem } from "./problem"
import { problemIn, reasonIn } from "./reasons"

const t = (text: string) => reasonIn(i18next.t, text)

afterEach(() => i18next.changeLanguage("en"))

it.each([
  ["broker-a at 127.0.0.1:10911 refused the connection", "broker-a（127.0.0.1:10911） 拒绝连接"],
  ["name server mq:9876 has a host name that cannot be resolved", "Name server mq:9876 的主机名无法解析"],
  ["the broker at 10.0.0.1:10911 did not answer within 2.5 s", "Broker 10.0.0.1:10911 在 2.5 秒内无应答"],
  ["the cluster did not answer within 3 s", "集群 在 3 秒内无应答"],
])("says %s in Chinese, and leaves English as it is", async (english, chinese) => {
  expect(t(english)).toBe(english)
  await i18next.changeLanguage("zh")
  expect(t(english)).toBe(chinese)
})

it("says in Chinese of what kind a refusal is, and keeps the server's sentence, which names thing and value", async () => {
  const problem = new Problem(422, { code: "INVALID", detail: "rate must be above 0" })
  expect(problemIn(i18next.t, "en", problem)).toBe("rate must be above 0")
  await i18next.changeLanguage("zh")
  expect(problemIn(i18next.t, "zh", problem)).toBe("请求无效：rate must be above 0")
  expect(problemIn(i18next.t, "zh", new Problem(418, { code: "TEAPOT", detail: "short and stout" }))).toBe("short and stout")
})
