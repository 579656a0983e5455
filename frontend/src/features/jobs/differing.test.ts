import { expect, it } from "vitest"
import { changeOf, differencesIn, linesOfField } from "./differing"
import type { Sample } from "./report"

const sample = (values: Sample["values"]): Sample => ({ class: "different", key: "P-1", left: null, right: null, left_count: 1, right_count: 1, fields: ["body"], ...(values && { values }) })

it("compares JSON path by path, as it is written", () => {
  const lines = linesOfField("body", '{"amount":45.10,"to":{"iban":"DE1"},"lines":[1,2]}', '{"amount":45.01,"to":{"iban":"DE1"},"lines":[1]}')
  expect(lines).toEqual([
    { path: "amount", left: "45.10", right: "45.01" },
    { path: "to.iban", left: '"DE1"', right: '"DE1"' },
    { path: "lines[0]", left: "1", right: "1" },
    { path: "lines[1]", left: "2", right: null },
  ])
})

it("compares properties by their names", () => {
  expect(linesOfField("properties", "a=1\nb=x=y", "b=x\na=1")).toEqual([
    { path: "a", left: "1", right: "1" },
    { path: "b", left: "x=y", right: "x" },
  ])
})

it.each([
  ["hello", '{"a":1}'],
  ['{"a":1}', null],
  ["[1]", "[2]"],
])("leaves %j and %j whole", (left, right) => {
  expect(linesOfField("body", left, right)).toEqual([{ path: "", left, right }])
})

it("names what differs, the field where it is the whole of it", () => {
  expect(differencesIn(sample({ body: { left: '{"a":1,"b":2}', right: '{"a":1,"b":3}' }, tag: { left: "new", right: "old" } }))).toEqual([
    { path: "b", left: "2", right: "3" },
    { path: "tag", left: "new", right: "old" },
  ])
  expect(differencesIn(sample(undefined))).toEqual([])
})

it.each([
  ["45.10", "45.01", "\u22120.09"],
  ["200", "207", "+7"],
  ['"1"', "1", null],
  [null, "1", null],
  ["12345678901234567890", "1", null],
])("from %j to %j the change is %j", (left, right, change) => {
  expect(changeOf({ path: "amount", left, right })).toBe(change)
})
