import { expect, it } from "vitest"
import { job } from "@/testing/factories"
import { phasesOf } from "./phases"

const of = (phases: Record<string, number>) => phasesOf(job("j1", { result: { phases } }))

it("puts one phase after the other, and planning beside the start of Spark", () => {
  const found = of({ "waiting for a worker": 1, "starting Python": 2, planning: 0.5, "starting Spark": 4, copying: 3, "until the first messages": 7.5 })
  expect(found?.phases.map(({ name, from }) => [name, from])).toEqual([["waiting for a worker", 0], ["starting Python", 1], ["planning", 3], ["starting Spark", 3], ["copying", 7]])
  expect(found).toMatchObject({ whole: 10, toFirst: 7.5 })
})

it("counts planning where no Spark was started, and leaves out what took no time", () => {
  expect(of({ "starting Python": 0, planning: 2, counting: 1 })).toMatchObject({ whole: 3, toFirst: null, phases: [{ name: "planning" }, { name: "counting", from: 2 }] })
})

it("has none for a job that tells none", () => {
  expect(phasesOf(job("j1"))).toBeNull()
  expect(of({ planning: 0 })).toBeNull()
})
