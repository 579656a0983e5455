import { describe, expect, it } from "vitest"
import { conditionsOf, FilterFault, readFilter, scanBody } from "./filter-text"

const bodyOf = (text: string, rest = {}) => scanBody(conditionsOf(readFilter(text)), rest)

describe("the text of a filter", () => {
  it.each([
    ["", "{}"],
    ["tag = paid", '{"tags":["paid"]}'],
    ['tag in [paid, "re open"]', '{"tags":["paid","re open"]}'],
    ["key = A17 and body contains x", '{"key":"A17","text":"x"}'],
    ["property.source starts_with we", '{"properties":[{"name":"source","operator":"prefix","value":"we"}]}'],
    ['property["odd name"] missing', '{"properties":[{"name":"odd name","operator":"absent"}]}'],
    ["$.amount >= 1.10", '{"fields":[{"path":"$.amount","operator":"ge","value":1.10}]}'],
    ["$.id = 12345678901234567890123", '{"fields":[{"path":"$.id","operator":"eq","value":12345678901234567890123}]}'],
    ['$.rows[*].sku = "1" and $.who != Ada', '{"fields":[{"path":"$.rows[*].sku","operator":"eq","value":"1"},{"path":"$.who","operator":"ne","value":"Ada"}]}'],
    ['$.at >= "2026-01-01"', '{"fields":[{"path":"$.at","operator":"ge","value":"2026-01-01"}]}'],
    ["$.id starts_with 17", '{"fields":[{"path":"$.id","operator":"prefix","value":"17"}]}'],
    ["$.gone exists", '{"fields":[{"path":"$.gone","operator":"exists"}]}'],
  ])("says %s as a scan takes it", (text, body) => {
    expect(bodyOf(text)).toBe(body)
  })

  it("stands beside the rest of the request", () => {
    expect(JSON.parse(bodyOf("$.a = 1 and tag = x", { limit: 5 }))).toEqual({ limit: 5, tags: ["x"], fields: [{ path: "$.a", operator: "eq", value: 1 }] })
  })

  it.each([
    ["colour = red", "field", 0],
    ["tag paid", "operator", 4],
    ["tag =", "value", 5],
    ["tag = paid or key = 1", "and", 11],
    ["tag = paid and", "field", 14],
    ["$.amount >= bla(", "number", 12],
    ["tag = a and $.amount < abc", "number", 23],
    ["$.at <= 2026-01-01", "number", 8],
    ["tag contains x", "takes", 0],
    ["property.n > 5", "takes", 0],
    ["tag = a and tag = b", "twice", 0],
  ])("%s is refused with the place and the reason", (text, kind, at) => {
    try {
      conditionsOf(readFilter(text))
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(FilterFault)
      expect(error).toMatchObject({ kind, at })
    }
  })
})
