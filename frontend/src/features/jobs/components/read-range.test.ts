import { expect, it } from "vitest"
import { chosenOf } from "./read-range"

const times = [0, 60, 120, 180]

it.each([
  [undefined, undefined, [1, 2, null, 4]],
  ["1970-01-01T00:01:00Z", undefined, [null, 2, null, 4]],
  [undefined, "1970-01-01T00:01:00Z", [1, 2, null, null]],
  ["{{ last_success }}", "half typed", [1, 2, null, 4]],
])("chooses what lies from %j to %j", (from, to, chosen) => {
  expect(chosenOf(times, [1, 2, null, 4], from, to)).toEqual(chosen)
})
