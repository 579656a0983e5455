import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { type ApiDocument, matching, operationsOf } from "./document"
import { fieldsOf, sampleOf, typeOf } from "./schema"

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

describe("the document that is served", () => {
  it("has every operation once, found by words of its name, path or summary", () => {
    expect(operations.length).toBeGreaterThan(100)
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length)
    expect(matching(operations, "post topics create").map(({ id }) => id)).toContain("createTopic")
    expect(matching(operations, "no-such-thing")).toEqual([])
  })

  it("gives each body of a request fields and a sample that is JSON", () => {
    for (const { id, body } of operations) {
      if (!body) continue
      expect(fieldsOf(body, served).length, id).toBeGreaterThan(0)
      expect(() => JSON.stringify(sampleOf(body, served)), id).not.toThrow()
    }
  })

  it("begins a new topic with its name alone, the only field it needs", () => {
    const create = operations.find(({ id }) => id === "createTopic")
    expect(sampleOf(create?.body ?? {}, served)).toEqual({ name: "" })
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
