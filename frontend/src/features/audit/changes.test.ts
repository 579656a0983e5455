import { expect, it } from "vitest"
import { changesOf } from "./changes"

it("lists the fields that differ, with a dash where there was none", () => {
  expect(changesOf({ write_queues: 4, permission: "rw" }, { write_queues: 8, permission: "rw", order: true })).toEqual([
    { field: "write_queues", before: "4", after: "8" },
    { field: "order", before: "—", after: "true" },
  ])
  expect(changesOf(null, null)).toEqual([])
})
