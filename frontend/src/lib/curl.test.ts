import { expect, it } from "vitest"
import { keepTags } from "./api-client"
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

it("reads with one short line, quoted only where it must be", () => {
  expect(curlOf({ path: "/api/v1/topics" }).split(" \\\n  ")).toEqual(["curl http://localhost:3000/api/v1/topics", '-H "Authorization: Bearer $GANTRY_TOKEN"'])
  expect(curlOf({ path: "/x", query: { search: undefined } })).toContain("curl http://localhost:3000/x \\")
})

it("changes the version that was read, as the console itself does", () => {
  keepTags([{ etag: '"7"' }], () => "/curl/orders")
  expect(curlOf({ method: "PATCH", path: "/curl/orders", body: {} })).toContain("-H 'If-Match: \"7\"'")
  expect(curlOf({ method: "DELETE", path: "/curl/orders" })).toContain("curl -X DELETE http://localhost:3000/curl/orders")
  expect(curlOf({ path: "/curl/orders" })).not.toContain("If-Match")
  const ofForm = curlOf({ method: "PATCH", path: "/curl/orders", body: {}, tag: '"6"' })
  expect(ofForm.match(/If-Match: "\d"/g)).toEqual(['If-Match: "6"'])
})

it("lets no body end its own quotes", () => {
  const text = curlOf({ method: "POST", path: "/x", body: "'; rm -rf ~ #" })
  expect(text).toContain(`--data-binary ''\\''; rm -rf ~ #'`)
})
