import { describe, expect, it } from "vitest"
import { asProblem, Problem, refusedFields } from "./problem"

describe("a problem", () => {
  it("says most exactly what it can", () => {
    expect(new Problem(503, { title: "Unreachable", detail: "broker-a refused the connection" }).message).toBe("broker-a refused the connection")
    expect(new Problem(503, { title: "Unreachable" }).message).toBe("Unreachable")
    expect(new Problem(503, {}).message).toBe("HTTP 503")
    expect(new Problem(503, {}).code).toBe("HTTP_503")
  })

  it.each([
    [0, true],
    [400, false],
    [409, false],
    [500, true],
    [503, true],
  ])("of status %s may pass by itself: %s, where the API does not say", (status, retryable) => {
    expect(new Problem(status, {}).retryable).toBe(retryable)
  })

  it.each([
    ["#/name", "name"],
    ["/name", "name"],
    ["#/job/source/topic", "job.source.topic"],
    ["#/messages/0/body", "messages.0.body"],
  ])("points with %s at the field %s", (pointer, field) => {
    expect(new Problem(422, { errors: [{ pointer, detail: "wrong" }] }).fields).toEqual({ [field]: "wrong" })
  })

  it("stays the same problem when it is passed on", () => {
    const problem = new Problem(409, { code: "EXISTS" })
    expect(asProblem(problem)).toBe(problem)
  })

  it("is made of whatever else was thrown", () => {
    expect(asProblem(new SyntaxError("Unexpected token <"))).toMatchObject({ status: 0, message: "Unexpected token <" })
    expect(asProblem("gone")).toMatchObject({ status: 0, message: "gone" })
  })
})

const sent = { name: "TBW102", read_queues: 4 }
const refusal = new Problem(422, {
  errors: [
    { pointer: "#/name", detail: "is reserved by brokers" },
    { pointer: "#/read_queues", detail: "too few" },
    { pointer: "#/permission", detail: "not known" },
  ],
})

describe("what the API said of the fields of a form", () => {
  it("is nothing while nothing was refused", () => {
    expect(refusedFields({ error: null, variables: undefined }, sent)).toEqual({})
    expect(refusedFields({ error: null, variables: sent }, sent)).toEqual({})
  })

  it("stands at each field as long as it is as it was sent", () => {
    expect(refusedFields({ error: refusal, variables: sent }, sent)).toEqual(refusal.fields)
  })

  it("goes from a field that was changed, and comes back with the value that was refused", () => {
    const change = { error: refusal, variables: sent }
    expect(refusedFields(change, { ...sent, name: "orders" })).toEqual({ read_queues: "too few", permission: "not known" })
    expect(refusedFields(change, { ...sent })).toHaveProperty("name")
  })

  it("is nothing when nobody answered", () => {
    expect(refusedFields({ error: new TypeError("Failed to fetch"), variables: sent }, sent)).toEqual({})
  })
})
