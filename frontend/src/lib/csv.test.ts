import { expect, it } from "vitest"
import { csvOf } from "./csv"

const lines = (rows: object[]) => csvOf(rows).slice(1).split("\r\n")

it("every field of every row is a column, and inner objects are dotted", () => {
  expect(lines([{ name: "a", lag: { total: 3 } }, { name: "b", state: "idle" }])).toEqual([
    "name,lag.total,state",
    "a,3,",
    "b,,idle",
    "",
  ])
})

it("what is not known is empty, and differs from empty text and from zero", () => {
  expect(lines([{ a: null, b: "", c: 0, d: false }])[1]).toBe(',"",0,false')
})

it("text stays one field, whatever it holds", () => {
  expect(lines([{ a: 'say "hi", now', b: "two\nlines", c: ["x", "y"] }])[1]).toBe(
    '"say ""hi"", now","two\nlines","[""x"",""y""]"',
  )
})

it("a spreadsheet runs none of it as a formula, and numbers stay numbers", () => {
  expect(lines([{ a: "=1+1", b: "@x", c: -5, d: "-5", e: "'-5" }])[1]).toBe("'=1+1,'@x,-5,'-5,''-5")
})

it("no reader cuts text at a NUL", () => {
  expect(lines([{ a: "x\0y" }])[1]).toBe(`"'""x\\u0000y"""`)
})

it("whole numbers as text keep all their digits", () => {
  expect(lines([{ offset: "12345678901234567890" }])[1]).toBe("12345678901234567890")
})
