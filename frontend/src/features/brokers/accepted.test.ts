import { expect, it } from "vitest"
import { isAccepted } from "./accepted"

it.each([
  ["a number from 0 to 1,000,000", ["0", " 48 ", "1000000"], ["abc", "-1", "72.5", "1000001", "1e3"]],
  ["true or false", ["true", "False"], ["yes"]],
  ["ASYNC_FLUSH or SYNC_FLUSH", ["sync_flush"], ["SYNC"]],
  ["hours of the day like 04 or 04;16", ["04", "4; 16"], ["24", "4,16"]],
  ["times like 1s 5s 1m 2h 1d", ["1s 5s 2h"], ["1s,5s", "5"]],
  ["a name of letters, digits, %, |, _ and -", ["a-b_C%"], ["a b"]],
  ["what only the server knows", ["anything"], []],
])("knows what %s takes", (accepts, right, wrong) => {
  expect(right.filter((text) => !isAccepted(accepts, text))).toEqual([])
  expect(wrong.filter((text) => isAccepted(accepts, text))).toEqual([])
})
