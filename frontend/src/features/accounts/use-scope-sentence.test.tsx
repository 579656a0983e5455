import { renderHook } from "@testing-library/react"
import i18next from "i18next"
import { afterEach, expect, it } from "vitest"
import "@/testing/render"
import { useScopeSentence } from "./use-scope-sentence"

afterEach(() => i18next.changeLanguage("en"))

it.each([
  [["read"], "It may read what the console shows, without bodies.", "可以：查看控制台内容，不含消息体。"],
  [["produce:orders-*", "produce:audit", "jobs"], "It may produce messages: orders-* and audit; start and cancel jobs.", "可以：发送消息：orders-*和audit；启动与取消任务。"],
  [["consume:orders@billing*"], "It may consume messages: orders with the groups billing*.", "可以：消费消息：orders（消费组 billing*）。"],
  [["consume:*@billing", "read:*", "read"], "It may consume messages: any topic with the groups billing; read what the console shows, without bodies.", "可以：消费消息：任意 Topic（消费组 billing）；查看控制台内容，不含消息体。"],
  [[], "It may do nothing: choose at least one right.", "没有任何权限：至少选择一项。"],
])("says %j in words", async (scopes, english, chinese) => {
  const said = renderHook(() => useScopeSentence())
  expect(said.result.current(scopes)).toBe(english)
  await i18next.changeLanguage("zh")
  said.rerender()
  expect(said.result.current(scopes)).toBe(chinese)
})
