import { expect, it } from "vitest"
import { ratesOf } from "./rates"

const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 6, 0, second)).toISOString()
const sample = (second: number, read: number, written = 0) => ({ at: at(second), read, written })

it("is the mean of the last few seconds", () => {
  const { read, written } = ratesOf([sample(0, 0), sample(1, 100, 10), sample(2, 200, 20), sample(3, 600, 60)])
  expect(read).toEqual([null, 100, 100, 200])
  expect(written).toEqual([null, 10, 10, 20])
})

it("is unknown across a pause, also right after it", () => {
  const { read } = ratesOf([sample(0, 0), sample(1, 50), sample(2, 100), sample(600, 100), sample(601, 130)])
  expect(read).toEqual([null, 50, 50, null, 30])
})

it("is unknown where a new run counts from zero again", () => {
  expect(ratesOf([sample(0, 0), sample(1, 900), sample(2, 0), sample(5, 30)]).read).toEqual([null, 900, null, 10])
})

it("reads long steps of a long run as they are", () => {
  expect(ratesOf([sample(0, 0), sample(60, 600), sample(120, 1_200)]).read).toEqual([null, 10, 10])
})

it("is empty before the first sample", () => {
  expect(ratesOf([])).toEqual({ times: [], read: [], written: [] })
})
