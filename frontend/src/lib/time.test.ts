import { describe, expect, it } from "vitest"
import { clock, day, everyForm, isSameDay, isZone, parseWallClock, wallClock, when, zoneLabel, zoneName } from "./time"

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

describe("a day on which the clock changes", () => {
  const at = (iso: string) => Date.parse(iso)
  const BERLIN = "Europe/Berlin"

  it.each([
    ["2026-03-29T00:59:59Z", "01:59:59", "UTC+1"],
    ["2026-03-29T01:00:00Z", "03:00:00", "UTC+2"],
    ["2026-10-25T00:30:00Z", "02:30:00", "UTC+2"],
    ["2026-10-25T01:30:00Z", "02:30:00", "UTC+1"],
  ])("writes %s in Berlin as %s, and by the label which of two equal times it is", (iso, words, label) => {
    expect(clock(at(iso), BERLIN)).toBe(words)
    expect(zoneLabel(BERLIN, at(iso))).toBe(label)
    expect(everyForm(at(iso), BERLIN)).toContain(`${words}.000 ${label}\n`)
  })

  it("is one day, though it has 23 or 25 hours", () => {
    const short = [at("2026-03-28T23:00:00Z"), at("2026-03-29T21:59:59Z")] as const
    const long = [at("2026-10-24T22:00:00Z"), at("2026-10-25T22:59:59Z")] as const
    expect(isSameDay(...short, BERLIN)).toBe(true)
    expect(isSameDay(short[0], short[1] + 1_000, BERLIN)).toBe(false)
    expect(isSameDay(...long, BERLIN)).toBe(true)
    expect(isSameDay(long[0], long[1] + 1_000, BERLIN)).toBe(false)
  })

  it.each([
    [BERLIN, "2026-03-28T23:00:00Z"],
    [BERLIN, "2026-10-24T22:00:00Z"],
    ["America/New_York", "2026-03-08T05:00:00Z"],
    ["America/New_York", "2026-11-01T04:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T13:00:00Z"],
    ["Asia/Kathmandu", "2026-04-04T18:15:00Z"],
  ])("in %s (%s) is read back as it was written, at every quarter of an hour", (zone, first) => {
    for (let quarter = 0; quarter < 104; quarter++) {
      const written = wallClock(at(first) + quarter * 900_000, zone)
      expect(wallClock(parseWallClock(written, zone) ?? 0, zone)).toBe(written)
    }
  })

  it.each(["2026-03-29 01:59:59", "2026-03-29 03:00:00", "2026-10-25 01:59:59", "2026-10-25 03:00:00"])("has %s only once, and that is what it means", (text) => {
    const found = parseWallClock(text, BERLIN) ?? 0
    expect(wallClock(found, BERLIN)).toBe(text)
    expect([-3_600_000, 3_600_000].map((by) => wallClock(found + by, BERLIN))).not.toContain(text)
  })
})

describe("zones", () => {
  it("are named, or the browser's own", () => {
    expect(zoneName("Asia/Shanghai")).toBe("Asia/Shanghai")
    expect(isZone(zoneName("browser"))).toBe(true)
    expect(isZone("Europe/Atlantis")).toBe(false)
  })

  it("that nobody knows are written as UTC, not as an error", () => {
    expect(clock(NOW, "Europe/Atlantis")).toBe("06:32:00")
    expect(zoneLabel("Europe/Atlantis", NOW)).toBe("UTC")
  })

  it.each([
    ["America/St_Johns", "UTC-3:30", "03:02:00"],
    ["Pacific/Kiritimati", "UTC+14", "20:32:00"],
    ["Pacific/Pago_Pago", "UTC-11", "19:32:00"],
  ])("far from UTC are written right: %s", (name, label, words) => {
    expect(zoneLabel(name, NOW)).toBe(label)
    expect(clock(NOW, name)).toBe(words)
  })

  it("decide in which year a day is", () => {
    const eve = Date.parse("2025-12-31T16:30:00Z")
    expect(day(eve, zone, "en", NOW)).toBe("1 Jan")
    expect(day(eve, "UTC", "en", NOW)).toBe("31 Dec 2025")
    expect(day(eve, "UTC", "zh", NOW)).toBe("2025-12-31")
  })
})

describe("clocks", () => {
  it("are of 24 hours, with as much as is asked for", () => {
    const midnight = Date.parse("2026-11-21T00:05:09.007Z")
    expect(clock(midnight, "UTC")).toBe("00:05:09")
    expect(clock(midnight, "UTC", { seconds: false })).toBe("00:05")
    expect(clock(midnight, "UTC", { withMs: true })).toBe("00:05:09.007")
  })

  it("of a moment before 1970 keep their milliseconds", () => {
    expect(wallClock(-1, "UTC")).toBe("1969-12-31 23:59:59.999")
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

  it.each(["yesterday", "", "14:10", "2026-11", "2026-11-21 14", "2026-11-21 14:10:00Z", "21.11.2026"])("refuses %j, which is no time", (text) => {
    expect(parseWallClock(text, zone)).toBeNull()
  })

  it.each(["2026-02-30", "2026-13-01", "2026-00-10", "2026-11-31 12:00", "2026-11-21 24:00", "2026-11-21 12:60", "2026-11-21 12:00:60"])(
    "refuses %s, which no calendar and no clock has",
    (text) => expect(parseWallClock(text, zone)).toBeNull(),
  )

  it("knows the years that have a 29th of February", () => {
    expect(parseWallClock("2028-02-29", "UTC")).toBe(Date.UTC(2028, 1, 29))
    expect(parseWallClock("2026-02-29", "UTC")).toBeNull()
  })

  it("does not mind spaces around it, nor single digits", () => {
    expect(parseWallClock("  2026-1-5 7:03 ", "UTC")).toBe(Date.UTC(2026, 0, 5, 7, 3))
  })
})
