import { describe, expect, it } from "vitest"
import { axisDuration, bytes, compact, count, duration, percent, percentNumber, queueAndOffset, rate, shortId, signed } from "./format"

describe("writing numbers", () => {
  it.each([
    [248_733_002, "248,733,002"],
    [0, "0"],
    [-16, "−16"],
    [9_007_199_254_740_991, "9,007,199,254,740,991"],
  ])("writes the count %s as %s", (value, text) => expect(count(value)).toBe(text))

  it.each([
    [287.4, "+287"],
    [-16, "−16"],
    [0, "0"],
    [-0.4, "0"],
    [-1_234_567, "−1,234,567"],
  ])("writes the change %s as %s", (value, text) => expect(signed(value)).toBe(text))

  it.each([
    [1842.3, "1,842"],
    [0.4, "0.4"],
    [0, "0"],
    [12.6, "13"],
    [7, "7"],
    [9.94, "9.9"],
    [9.97, "10"],
    [0.04, "<0.1"],
    [1_000_000, "1,000,000"],
  ])("writes the rate %s as %s", (value, text) => expect(rate(value)).toBe(text))

  it.each([
    [1_284, "1,284 B"],
    [893_000_000, "893 MB"],
    [1_650_000, "1.7 MB"],
    [9_960_000, "10 MB"],
    [274_100_000_000, "274.1 GB"],
    [48_211, "48 kB"],
    [0, "0 B"],
    [9_999, "9,999 B"],
    [10_000, "10 kB"],
    [999_499, "999 kB"],
    [1_500_000_000_000, "1.5 TB"],
    [2_000_000_000_000_000, "2.0 PB"],
    [3_000_000_000_000_000_000, "3,000.0 PB"],
  ])("writes %s bytes as %s", (value, text) => expect(bytes(value)).toBe(text))

  it.each([
    [200_000, "200 k"],
    [1_240_000, "1.24 M"],
    [15, "15"],
    [0, "0"],
    [0.25, "0.25"],
    [-2_500, "-2.5 k"],
    [999, "999"],
    [1_000, "1 k"],
    [7_654_321_000, "7.65 G"],
  ])("writes %s short as %s", (value, text) => expect(compact(value)).toBe(text))

  it("writes a share with one decimal and a space", () => {
    expect(percent(0.6178)).toBe("61.8 %")
    expect(percent(1)).toBe("100.0 %")
    expect(percentNumber(0)).toBe("0.0")
  })

  it("writes where a message lies as queue and offset", () => expect(queueAndOffset(2, 43_007_954)).toBe("2 / 43,007,954"))

  it("cuts ids in the middle, because they differ at the end", () => {
    expect(shortId("AC110001000077D2A44F61E8B2")).toBe("AC11…61E8B2")
    expect(shortId("short")).toBe("short")
  })
})

describe("writing durations", () => {
  it.each([
    [51, "51 ms", "51 毫秒"],
    [5_000, "5 s", "5 秒"],
    [306_400, "5 min 6 s", "5 分 6 秒"],
    [187_200_000, "2 d 4 h", "2 天 4 小时"],
    [172_800_000, "2 d", "2 天"],
    [3_600_000, "1 h", "1 小时"],
    [0, "0 ms", "0 毫秒"],
    [999, "999 ms", "999 毫秒"],
    [1_999, "1 s", "1 秒"],
    [59_999, "59 s", "59 秒"],
    [3_605_000, "1 h", "1 小时"],
    [86_399_999, "23 h 59 min", "23 小时 59 分"],
    [90_000_000_000, "1041 d 16 h", "1041 天 16 小时"],
  ])("writes %s ms in the two largest units", (ms, english, chinese) => {
    expect(duration(ms, "en")).toBe(english)
    expect(duration(ms, "zh")).toBe(chinese)
  })
})

describe("durations on an axis", () => {
  it.each([
    [30_000, "30 s", "30 秒"],
    [90_000, "1.5 min", "1.5 分"],
    [7_200_000, "2 h", "2 小时"],
    [250, "250 ms", "250 毫秒"],
  ])("have one unit (%i)", (ms, english, chinese) => {
    expect([axisDuration(ms, "en"), axisDuration(ms, "zh")]).toEqual([english, chinese])
  })
})
