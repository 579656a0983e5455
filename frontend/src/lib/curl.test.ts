import { expect, it } from "vitest"
import { curlOf } from "./curl"

it("never prints a token and quotes what a shell would take apart", () => {
  const text = curlOf({ method: "POST", path: "/api/v1/x", query: { a: "b c" }, body: { name: "it's" } })
  expect(text).toContain('-H "Authorization: Bearer $GANTRY_TOKEN"')
  expect(text).toContain("'http://localhost:3000/api/v1/x?a=b+c'")
  expect(text).toContain(`-d '{"name":"it'\\''s"}'`)
})

it("sends a raw body as it is", () => {
  expect(curlOf({ method: "POST", path: "/x", headers: { "MQ-Key": "a" }, body: "hello" })).toContain("-H 'MQ-Key: a' \\\n  --data-binary 'hello'")
})
