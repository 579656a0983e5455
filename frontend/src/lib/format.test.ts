import { describe, expect, it } from "vitest"
import { bytes, compact, count, duration, percent, rate, shortId, signed } from "./format"

describe("writing numbers", () => {
  it.each([
    [248_733_002, "248,733,002"],
    [0, "0"],
    [-16, "−16"],
  ])("writes the count %s as %s", (value, text) => expect(count(value)).toBe(text))

  it.each([
    [287.4, "+287"],
    [-16, "−16"],
    [0, "+0"],
  ])("writes the change %s as %s", (value, text) => expect(signed(value)).toBe(text))

  it.each([
    [1842.3, "1,842"],
    [0.4, "0.4"],
    [0, "0"],
    [12.6, "13"],
  ])("writes the rate %s as %s", (value, text) => expect(rate(value)).toBe(text))

  it.each([
    [1_284, "1,284 B"],
    [893_000_000, "893 MB"],
    [274_100_000_000, "274.1 GB"],
    [48_211, "48 kB"],
  ])("writes %s bytes as %s", (value, text) => expect(bytes(value)).toBe(text))

  it.each([
    [200_000, "200 k"],
    [1_240_000, "1.24 M"],
    [15, "15"],
  ])("writes %s short as %s", (value, text) => expect(compact(value)).toBe(text))

  it("writes a share with one decimal and a space", () => expect(percent(0.6178)).toBe("61.8 %"))

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
  ])("writes %s ms in the two largest units", (ms, english, chinese) => {
    expect(duration(ms, "en")).toBe(english)
    expect(duration(ms, "zh")).toBe(chinese)
  })
})
