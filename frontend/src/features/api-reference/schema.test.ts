import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { type ApiDocument, matching, operationsOf } from "./document"
import { fieldsOf, typeOf } from "./schema"

const served = JSON.parse(readFileSync("openapi.json", "utf8")) as ApiDocument
const operations = operationsOf(served)

const made: ApiDocument = {
  paths: {},
  components: {
    schemas: {
      Tree: { type: "object", required: ["name"], properties: { name: { type: "string" }, inner: { $ref: "#/components/schemas/Tree" } } },
      Order: { type: "string", enum: ["asc", "desc", ""] },
    },
  },
}

/** The places of a value that say nothing. */
function emptyPartsOf(value: unknown, place: string): string[] {
  if (typeof value !== "object" || value === null) return value === undefined || value === null || value === "" ? [place] : []
  const parts = Object.entries(value)
  return parts.length === 0 ? [place] : parts.flatMap(([name, part]) => emptyPartsOf(part, `${place}.${name}`))
}

describe("the document that is served", () => {
  it("has every operation once, found by words of its name, path or summary", () => {
    expect(operations.length).toBeGreaterThan(100)
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length)
    expect(matching(operations, "post topics create").map(({ id }) => id)).toContain("createTopic")
    expect(matching(operations, "no-such-thing")).toEqual([])
  })

  it("gives each body of a request fields, and one to begin with in which nothing is left empty", () => {
    for (const { id, body, example } of operations) {
      if (!body) continue
      expect(fieldsOf(body, served).length, id).toBeGreaterThan(0)
      expect(emptyPartsOf(example, id)).toEqual([])
    }
  })
})

describe("a schema", () => {
  it("that holds itself ends after a few steps", () => {
    const lines = fieldsOf({ $ref: "#/components/schemas/Tree" }, made)
    expect(lines.map(({ place }) => place)).toContain("inner.inner.name")
    expect(lines.length).toBeLessThan(12)
  })

  it("says its type in few words", () => {
    expect(typeOf({ type: "array", items: { $ref: "#/components/schemas/Order" } }, made)).toBe('array of "asc" | "desc"')
    expect(typeOf({ type: ["string", "null"], format: "date-time" }, made)).toBe("string | null (date-time)")
  })

  it("says its bounds and what is used without it", () => {
    const [line] = fieldsOf({ type: "object", properties: { limit: { type: "integer", minimum: 1, maximum: 9, default: 5, description: "How many." } } }, made)
    expect(line?.words).toBe("How many. · = 5, ≥ 1, ≤ 9")
  })
})
