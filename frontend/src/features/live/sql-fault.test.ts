import i18next from "i18next"
import { afterEach, describe, expect, it } from "vitest"
import "@/testing/render"
import { SQL_POINTER, sqlFaultIn } from "./sql-fault"

const fault = (reason: string) => {
  const detail = `This is no SQL92 filter: ${reason}, at character 7.`
  return sqlFaultIn(i18next.t, { code: "INVALID", detail, errors: [{ pointer: SQL_POINTER, detail }] })
}

afterEach(() => i18next.changeLanguage("en"))

/** As broker_core/sql92 says them. */
describe("what is wrong with SQL", () => {
  it.each([
    ["the text ends: a property, a value or a bracket is needed here", "表达式不完整"],
    ["'LIKE' does not belong here: the expression ends before it", "此处不应出现 LIKE"],
    ["'|' means nothing here", "无法识别 '|'"],
    ["a text that does not end: a quote is missing", "文本缺少结尾的引号"],
    ["a comment that does not end: */ is missing", "注释缺少结尾的 */"],
    ["NULL is compared by IS NULL", "判断 NULL 应使用 IS NULL"],
    ["> compares numbers", "> 只能比较数字"],
    ["BETWEEN 5 AND 1 holds for nothing", "BETWEEN 5 AND 1 没有任何值满足"],
    ["only a property can be IN a list", "IN 的左侧只能是属性"],
    ["true or false is needed here", "此处应为条件（真或假）"],
    ["'a' cannot be compared with 5", "'a' 不能与 5 比较"],
    ["9223372036854775808 is more than 9223372036854775807", "数字 9223372036854775808 超出范围"],
    ["nested deeper than 64", "条件嵌套过深"],
  ])("%s", async (reason, words) => {
    expect(fault(reason)).toMatch(/^SQL, character 7: /)
    await i18next.changeLanguage("zh")
    expect(fault(reason)).toBe(`SQL 第 7 个字符：${words}`)
  })

  it("is nothing where another field is wrong, or none", () => {
    expect(sqlFaultIn(i18next.t, null)).toBeNull()
    expect(sqlFaultIn(i18next.t, { code: "INVALID", detail: "x", errors: [{ pointer: "#/filter/tags", detail: "x" }] })).toBeNull()
    expect(sqlFaultIn(i18next.t, { code: "TOPIC_NOT_FOUND", detail: "x" })).toBeNull()
  })
})
