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

  it("refuses no field while nothing was refused", () => {
    expect(refusedFields(null)).toEqual({})
    expect(refusedFields(new Problem(422, { errors: [{ pointer: "#/name", detail: "is taken" }] }))).toEqual({ name: "is taken" })
  })
})
