import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import type { Operation } from "./document"
import { callOf, lackingOf } from "./request"
import { LANGUAGES, snippetOf } from "./snippets"

const operation: Operation = {
  id: "produce", method: "POST", path: "/api/v1/topics/{topic}/messages", tag: "data", summary: "", description: "", answers: [],
  parameters: [
    { name: "topic", in: "path", required: true },
    { name: "limit", in: "query" },
    { name: "Idempotency-Key", in: "header" },
  ],
  body: { type: "object" }, example: {},
}
const draft = { values: { "path:topic": "a/b c", "query:limit": "5", "header:Idempotency-Key": "it's" }, body: '{"data": "it\'s \\"here\\" 中"}' }

describe("a call", () => {
  it("has its values in the path, the query and the headers", () => {
    expect(callOf(operation, draft)).toEqual({
      method: "POST",
      path: "/api/v1/topics/a%2Fb%20c/messages?limit=5",
      headers: { "Content-Type": "application/json", "Idempotency-Key": "it's" },
      body: draft.body,
    })
  })

  it("says which required values it lacks, and keeps their braces", () => {
    const empty = { values: {}, body: "" }
    expect(lackingOf(operation, empty)).toEqual(["topic"])
    expect(callOf(operation, empty).path).toBe("/api/v1/topics/{topic}/messages")
    expect(callOf(operation, empty).headers).toEqual({})
  })
})

describe("the call as code", () => {
  it.each(LANGUAGES)("in %s names the address and never holds a token", (language) => {
    const code = snippetOf(language, callOf(operation, draft))
    expect(code).toContain("/api/v1/topics/a%2Fb%20c/messages?limit=5")
    expect(code).toContain("GANTRY_TOKEN")
  })

  it("in Python is Python, and in the shell one command with the body as it is", () => {
    const call = callOf(operation, draft)
    execFileSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], { input: snippetOf("python", call) })
    const words = execFileSync("bash", ["-c", `curl() { printf '%s\\n' "$@"; }\n${snippetOf("curl", call)}`], { encoding: "utf8" })
    expect(words.split("\n")).toContain(draft.body)
  })
})
