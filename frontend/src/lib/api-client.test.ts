import { beforeEach, describe, expect, it } from "vitest"
import { held } from "@/testing/fields"
import { answer, holdAnswer, refuse, requests, unplug } from "@/testing/server"
import { api, asShownBy, keepTags, reachable, signedOut, withQuery } from "./api-client"
import { asProblem, type Problem } from "./problem"

const refusal = async (request: Promise<unknown>): Promise<Problem> => {
  const outcome: unknown = await request.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome === undefined) throw new Error("the request was not refused")
  return asProblem(outcome)
}

const header = (line: string, name: string) => requests(line).at(-1)?.headers.get(name) ?? null

beforeEach(() => {
  reachable.set({ ok: true, since: 0 })
})

describe("a request", () => {
  it("leaves out what has no value", () => {
    expect(withQuery("/x", { a: 1, b: undefined, c: null, d: "", e: false })).toBe("/x?a=1&e=false")
    expect(withQuery("/x", { a: undefined })).toBe("/x")
  })

  it("escapes what a query string would take apart", () => {
    expect(withQuery("/x", { search: "a&b=c #1", zone: "Asia/Shanghai" })).toBe("/x?search=a%26b%3Dc+%231&zone=Asia%2FShanghai")
  })

  it("sends the token against cross-site requests with every change, and only then", async () => {
    for (const line of ["GET /x", "POST /x", "PATCH /x", "DELETE /x"]) answer(line, {})
    await api.get("/x")
    await api.post("/x", { name: "orders" })
    await api.patch("/x", {})
    await api.delete("/x")
    expect(header("GET /x", "X-CSRFToken")).toBeNull()
    expect(["POST /x", "PATCH /x", "DELETE /x"].map((line) => header(line, "X-CSRFToken"))).toEqual(["kept-secret", "kept-secret", "kept-secret"])
    expect(requests("POST /x")[0]?.body).toEqual({ name: "orders" })
  })

  it("reads that token among other cookies, as it was written", async () => {
    document.cookie = "csrftoken=a%3Db%20c"
    document.cookie = "csrftoken_old=no"
    answer("POST /x", {})
    await api.post("/x")
    expect(header("POST /x", "X-CSRFToken")).toBe("a=b c")
    document.cookie = "csrftoken_old=; max-age=0"
  })

  it("says that a body is JSON, and says nothing of one that is sent as it stands", async () => {
    answer("POST /x", {})
    await api.post("/x", { a: 1 })
    expect(header("POST /x", "Content-Type")).toBe("application/json")
    await api.post("/x", "hello", { headers: { "MQ-Key": "A17" } })
    expect(header("POST /x", "Content-Type")).toBeNull()
    expect(header("POST /x", "MQ-Key")).toBe("A17")
    expect(requests("POST /x").at(-1)?.body).toBe("hello")
  })

  it("takes an answer without a body for done", async () => {
    answer("DELETE /x", null, 204)
    answer("POST /x", () => ({ text: "" }))
    await expect(api.delete("/x")).resolves.toBeUndefined()
    await expect(api.post("/x")).resolves.toBeUndefined()
  })
})

describe("a change of something that was read", () => {
  it("says which version was read", async () => {
    answer("GET /orders", {}, 200, { ETag: '"one"' })
    answer("PATCH /orders", {}, 200, { ETag: '"two"' })
    answer("DELETE /orders", {})
    await api.get("/orders")
    await api.patch("/orders", {})
    await api.delete("/orders")
    expect(header("PATCH /orders", "If-Match")).toBe('"one"')
    expect(header("DELETE /orders", "If-Match")).toBe('"two"')
  })

  it("keeps the version it knew when it is refused: a second try is no blind one", async () => {
    answer("GET /stale", {}, 200, { ETag: '"one"' })
    answer("PATCH /stale", { title: "Changed", status: 412, code: "CHANGED" }, 412, { ETag: '"two"' })
    await api.get("/stale")
    await refusal(api.patch("/stale", {}))
    await refusal(api.patch("/stale", {}))
    expect(requests("PATCH /stale").map(({ headers }) => headers.get("If-Match"))).toEqual(['"one"', '"one"'])
  })

  it("says nothing of the version with what is read or created", async () => {
    answer("GET /both", {}, 200, { ETag: '"one"' })
    answer("POST /both", {})
    await api.get("/both")
    await api.get("/both")
    await api.post("/both", {})
    expect(header("GET /both", "If-Match")).toBeNull()
    expect(header("POST /both", "If-Match")).toBeNull()
  })

  it("knows the versions that came in a list", async () => {
    answer("DELETE /users/1", {})
    keepTags([{ id: 1, etag: '"mia"' }], ({ id }) => `/users/${id}`)
    await api.delete("/users/1")
    expect(header("DELETE /users/1", "If-Match")).toBe('"mia"')
  })

  it("is the one that a preview showed, whatever was read of the resource since", async () => {
    answer("GET /previewed/impact", {}, 200, { ETag: '"seen"' })
    answer("GET /previewed", {}, 200, { ETag: '"newer"' })
    answer("DELETE /previewed", null, 204)
    await api.get("/previewed/impact")
    await api.get("/previewed")
    await api.delete("/previewed", asShownBy("/previewed/impact"))
    expect(header("DELETE /previewed", "If-Match")).toBe('"seen"')
    await api.delete("/previewed", asShownBy("/never-read"))
    expect(header("DELETE /previewed", "If-Match")).toBe('"newer"')
  })
})

describe("a refusal", () => {
  it("is a problem with code, request id and the fields that were wrong", async () => {
    answer("POST /x", {
      title: "Invalid",
      status: 422,
      code: "INVALID",
      detail: "One field is wrong.",
      request_id: "r1",
      errors: [
        { pointer: "#/name", detail: "is taken" },
        { pointer: "#/name", detail: "is also too long" },
        { pointer: "#/source/topic", detail: "does not exist" },
        { detail: "belongs to no field" },
      ],
    }, 422)
    expect(await refusal(api.post("/x", {}))).toMatchObject({
      status: 422,
      code: "INVALID",
      requestId: "r1",
      message: "One field is wrong.",
      retryable: false,
      fields: { name: "is taken", "source.topic": "does not exist" },
    })
  })

  it("takes the request id from the head where the body has none", async () => {
    answer("GET /x", { title: "Busy", status: 503, code: "BUSY" }, 503, { "X-Request-Id": "r2" })
    expect(await refusal(api.get("/x"))).toMatchObject({ requestId: "r2", message: "Busy", retryable: true })
  })

  it("believes the API about whether it may pass, whatever the status", async () => {
    answer("GET /x", { title: "Uncertain", status: 500, code: "NO", retryable: false }, 500)
    expect((await refusal(api.get("/x"))).retryable).toBe(false)
    answer("GET /x", { title: "Too many", status: 429, code: "LIMITED", retryable: true }, 429)
    expect((await refusal(api.get("/x"))).retryable).toBe(true)
  })

  it("stays a problem when something between answered with a page", async () => {
    answer("GET /x", () => ({ status: 503, text: "<html>Service Unavailable</html>", headers: { "Content-Type": "text/html" } }))
    expect(await refusal(api.get("/x"))).toMatchObject({ status: 503, code: "HTTP_503", message: "HTTP 503", fields: {} })
  })

  it("tells the shell when nobody is signed in any more, and only then", async () => {
    refuse("GET /x", 401, "NOT_SIGNED_IN", "Sign in first.")
    const before = signedOut.get()
    await refusal(api.get("/x"))
    expect(signedOut.get()).toBe(before + 1)
    refuse("GET /x", 403, "FORBIDDEN", "Not for you.")
    await refusal(api.get("/x"))
    expect(signedOut.get()).toBe(before + 1)
  })
})

describe("whether the gateway can be reached", () => {
  it("is not so after a request that nobody answered, and so again after the next that somebody did", async () => {
    unplug("GET /x")
    expect(await refusal(api.get("/x"))).toMatchObject({ status: 0, code: "GATEWAY_UNREACHABLE", retryable: true })
    expect(reachable.get().ok).toBe(false)
    answer("GET /x", {})
    await api.get("/x")
    expect(reachable.get().ok).toBe(true)
  })

  it("is told with the moment it was lost, not with that of the last try", async () => {
    unplug("GET /x")
    await refusal(api.get("/x"))
    const lost = reachable.get()
    await refusal(api.get("/x"))
    expect(reachable.get()).toBe(lost)
  })

  it("is not so when a proxy answers in its place", async () => {
    answer("GET /x", () => ({ status: 502, text: "<html>Bad Gateway</html>", headers: { "Content-Type": "text/html" } }))
    await refusal(api.get("/x"))
    expect(reachable.get().ok).toBe(false)
  })

  it.each([
    [502, "BROKER_REFUSED"],
    [503, "BROKER_UNREACHABLE"],
    [504, "SEND_UNCERTAIN"],
  ])("is so when the gateway itself says %s of a broker", async (status, code) => {
    refuse("POST /x", status, code, "The broker did not answer.")
    expect((await refusal(api.post("/x"))).code).toBe(code)
    expect(reachable.get().ok).toBe(true)
  })

  it("is not told by a request that somebody gave up", async () => {
    const abort = new AbortController()
    holdAnswer("GET /x", held<object>().promise)
    const asked = api.get("/x", {}, abort.signal).catch((error: unknown) => error)
    abort.abort()
    expect(await asked).toMatchObject({ name: "AbortError" })
    expect(reachable.get().ok).toBe(true)
  })
})
