import { describe, expect, it } from "vitest"
import { answer, refuse, requests } from "@/testing/server"
import { api, keepTags, signedOut, withQuery } from "./api-client"
import { asProblem } from "./problem"

describe("the API client", () => {
  it("leaves out what has no value", () => {
    expect(withQuery("/x", { a: 1, b: undefined, c: null, d: "", e: false })).toBe("/x?a=1&e=false")
  })

  it("sends the token against cross-site requests with every change, and only then", async () => {
    answer("GET /x", {})
    answer("POST /x", {})
    await api.get("/x")
    await api.post("/x", { name: "orders" })
    expect(requests("GET /x")[0]?.headers.get("X-CSRFToken")).toBeNull()
    expect(requests("POST /x")[0]?.headers.get("X-CSRFToken")).toBe("kept-secret")
    expect(requests("POST /x")[0]?.body).toEqual({ name: "orders" })
  })

  it("raises a problem with code, request id and the fields that were wrong", async () => {
    answer("POST /x", {
      title: "Invalid",
      status: 422,
      code: "INVALID",
      detail: "One field is wrong.",
      request_id: "r1",
      errors: [{ pointer: "#/name", detail: "is taken" }],
    }, 422)
    const problem = asProblem(await api.post("/x", {}).catch((error: unknown) => error))
    expect(problem).toMatchObject({ status: 422, code: "INVALID", requestId: "r1", message: "One field is wrong.", fields: { name: "is taken" } })
  })

  it("says of each change which version was read", async () => {
    answer("GET /orders", {}, 200, { ETag: '"one"' })
    answer("PATCH /orders", {}, 200, { ETag: '"two"' })
    answer("DELETE /orders", {})
    await api.get("/orders")
    await api.patch("/orders", {})
    await api.delete("/orders")
    expect(requests("PATCH /orders")[0]?.headers.get("If-Match")).toBe('"one"')
    expect(requests("DELETE /orders")[0]?.headers.get("If-Match")).toBe('"two"')
  })

  it("knows the versions that came in a list", async () => {
    answer("DELETE /users/1", {})
    keepTags([{ id: 1, etag: '"mia"' }], ({ id }) => `/users/${id}`)
    await api.delete("/users/1")
    expect(requests("DELETE /users/1")[0]?.headers.get("If-Match")).toBe('"mia"')
  })

  it("tells the shell when nobody is signed in any more", async () => {
    refuse("GET /x", 401, "NOT_SIGNED_IN", "Sign in first.")
    const before = signedOut.get()
    await api.get("/x").catch(() => undefined)
    expect(signedOut.get()).toBe(before + 1)
  })
})
