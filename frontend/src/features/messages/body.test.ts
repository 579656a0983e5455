import { expect, it } from "vitest"
import { bytesOf, hexRows, textOf } from "./body"

it("shows any body as bytes", () => {
  expect(hexRows(bytesOf({ encoding: "text", data: "hello, harbour!!\n", text: null }))).toEqual([
    "000000  68 65 6c 6c 6f 2c 20 68 61 72 62 6f 75 72 21 21  hello, harbour!!",
    "000010  0a                                               ·",
  ])
})

it("reads base64 as bytes and JSON as indented text", () => {
  expect([...bytesOf({ encoding: "base64", data: "3q2+7w==", text: null })]).toEqual([0xde, 0xad, 0xbe, 0xef])
  expect(textOf({ encoding: "json", data: { a: 1 }, text: '{"a":1}' })).toBe('{\n  "a": 1\n}')
})

it("keeps numbers, strings and members of JSON as they were stored", () => {
  const text = '{"price": 1.10,"id":12345678901234567890123, "a":[ ],"a":[1e999,{}],"s":"x, {\\"y\\": [1]}"}'
  const lines = [
    "{",
    '  "price": 1.10,',
    '  "id": 12345678901234567890123,',
    '  "a": [],',
    '  "a": [',
    "    1e999,",
    "    {}",
    "  ],",
    '  "s": "x, {\\"y\\": [1]}"',
    "}",
  ]
  const body = { encoding: "json" as const, data: JSON.parse(text) as unknown, text }
  expect(textOf(body)).toBe(lines.join("\n"))
  expect(new TextDecoder().decode(bytesOf(body))).toBe(text)
})
