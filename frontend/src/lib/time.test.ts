import { describe, expect, it } from "vitest"
import { everyForm, parseWallClock, wallClock, when, zoneLabel } from "./time"

const NOW = Date.parse("2026-11-21T06:32:00Z")
const zone = "Asia/Shanghai"

describe("writing times", () => {
  it("writes only the clock for today", () => {
    expect(when(Date.parse("2026-11-21T06:31:07.412Z"), { zone, language: "en", withMs: true, now: NOW })).toBe("14:31:07.412")
  })

  it("writes day and clock for another day, month words only in English", () => {
    const at = Date.parse("2026-11-20T14:14:03.870Z")
    expect(when(at, { zone, language: "en", withMs: true, now: NOW })).toBe("20 Nov 22:14:03.870")
    expect(when(at, { zone, language: "zh", now: NOW })).toBe("11-20 22:14")
  })

  it("writes the year only when it is another one", () => {
    const at = Date.parse("2025-01-02T03:04:05Z")
    expect(when(at, { zone: "UTC", language: "en", now: NOW })).toBe("2 Jan 2025 03:04")
    expect(when(at, { zone: "UTC", language: "zh", now: NOW })).toBe("2025-01-02 03:04")
  })

  it("decides what is today in the chosen zone", () => {
    const at = Date.parse("2026-11-20T17:00:00Z")
    expect(when(at, { zone, language: "en", now: NOW })).toBe("01:00:00")
    expect(when(at, { zone: "UTC", language: "en", now: NOW })).toBe("20 Nov 17:00")
  })

  it("names zones by their distance from UTC", () => {
    expect(zoneLabel(zone, NOW)).toBe("UTC+8")
    expect(zoneLabel("Asia/Kolkata", NOW)).toBe("UTC+5:30")
    expect(zoneLabel("UTC", NOW)).toBe("UTC")
  })

  it("gives every form in the tooltip", () => {
    expect(everyForm(NOW, zone)).toBe(`2026-11-21 14:32:00.000 UTC+8\n2026-11-21T06:32:00.000Z\n${NOW} ms`)
  })
})

describe("reading wall clocks", () => {
  it.each([
    ["2026-11-21 14:10:00", zone, "2026-11-21T06:10:00.000Z"],
    ["2026-11-21T14:10", zone, "2026-11-21T06:10:00.000Z"],
    ["2026-11-21", "UTC", "2026-11-21T00:00:00.000Z"],
    ["2026-07-01 12:00:00.5", "Europe/Berlin", "2026-07-01T10:00:00.500Z"],
  ])("reads %s in %s", (text, where, iso) => {
    expect(new Date(parseWallClock(text, where) ?? 0).toISOString()).toBe(iso)
  })

  it("reads back what it writes", () => {
    expect(parseWallClock(wallClock(NOW, zone), zone)).toBe(NOW)
  })

  it("refuses what is no time", () => expect(parseWallClock("yesterday", zone)).toBeNull())
})
