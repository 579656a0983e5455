import { screen } from "@testing-library/react"
import i18next from "i18next"
import { afterEach, describe, expect, it } from "vitest"
import { broker, overview } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { MissingNotice } from "./missing-notice"
import { OverviewFigures } from "./overview-figures"
import { OverviewPage } from "./overview-page"
import { WorstGroups } from "./worst-groups"

const OVERVIEW = "GET /api/v1/clusters/local/overview"
const REASON = "broker-b at 10.0.0.2:10911 refused the connection"
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()

const silent = () =>
  overview({
    in_rate: null,
    out_rate: null,
    total_lag: null,
    groups_behind: null,
    groups_timed: null,
    dead_letters: null,
    dead_letter_groups: null,
    disk_used_ratio: null,
    uptime_ms: null,
    topics: null,
    groups: null,
    brokers_answering: 0,
    brokers: [broker("broker-b", { reachable: false, reason: REASON })],
    missing: [{ broker: "broker-b", reason: REASON, since: ago(12) }],
    unknown_reason: REASON,
    last_known: { at: ago(15), total_lag: 18_800, oldest_unconsumed_ms: 60_000, dead_letters: 4, topics: 3, groups: 2, in_rate: 5, out_rate: 4, disk_used_ratio: 0.19 },
  })

afterEach(() => i18next.changeLanguage("en"))

describe("an overview of which nothing is known", () => {
  it("shows what was known, with its age, and no word of health", async () => {
    answer("GET /api/v1/clusters/local/overview/history", { step_ms: 1_000, from: ago(60), to: ago(0), series: {}, group_lag: {} })
    renderApp(<><OverviewFigures overview={silent()} /><WorstGroups cluster="local" overview={silent()} /></>)
    expect(await screen.findByLabelText(/Not known now: broker-b .* refused the connection. It was 18,800, \d+ s ago/)).toBeTruthy()
    expect(screen.getByText("It is not known which groups are behind")).toBeTruthy()
    expect(screen.getByText("No broker answers.")).toBeTruthy()
    for (const health of ["nothing waits", "none in any group", "no forecast", "No group is behind"]) {
      expect(document.body.textContent).not.toContain(health)
    }
  })

  it("is as old as what it shows", async () => {
    answer(OVERVIEW, silent())
    answer("GET /api/v1/clusters/local/overview/history", { step_ms: 1_000, from: ago(60), to: ago(0), series: {}, group_lag: {} })
    renderApp(<OverviewPage cluster="local" side={null} />)
    expect(await screen.findByText(/^Data 1[5-9] s old/)).toBeTruthy()
    expect((await screen.findAllByText("last known")).length).toBeGreaterThan(0)
  })

  it("calls nothing waiting what was measured so, and unknown what was not timed yet", async () => {
    const { unmount } = renderApp(<OverviewFigures overview={overview()} />)
    expect(await screen.findByText("nothing waits")).toBeTruthy()
    unmount()
    renderApp(<OverviewFigures overview={overview({ total_lag: 9_000, groups_behind: 500, groups_timed: 50 })} />)
    expect(await screen.findByText("measured for 50 of 500 groups behind")).toBeTruthy()
    expect(screen.queryByText("nothing waits")).toBeNull()
  })
})

describe("an overview of some names", () => {
  it.each([
    [true, "en", "only topics and groups that you may read"],
    [true, "zh", "仅包含你有权读取的 Topic 和消费组"],
    [false, "en", null],
  ])("says so if limited is %s (%s)", async (limited, language, words) => {
    await i18next.changeLanguage(language)
    answer(OVERVIEW, overview({ limited }))
    answer("GET /api/v1/clusters/local/overview/history", { step_ms: 1_000, from: ago(60), to: ago(0), series: {}, group_lag: {} })
    renderApp(<OverviewPage cluster="local" side={<p>the side</p>} />)
    await screen.findByText("the side")
    await screen.findByText(i18next.t("overview.totalLag"))
    if (words) expect(document.body.textContent).toContain(words)
    else expect(document.body.textContent).not.toContain(i18next.t("overview.limited"))
  })
})

describe("the head of every page", () => {
  it("names the broker that does not answer, since when and why", async () => {
    answer(OVERVIEW, silent())
    renderApp(<MissingNotice cluster="local" />)
    expect(await screen.findByText(/^broker-b has not answered for \d+ s: broker-b at 10.0.0.2:10911 refused the connection. Figures without it are unknown.$/)).toBeTruthy()
  })

  it("says so in Chinese", async () => {
    answer(OVERVIEW, silent())
    await i18next.changeLanguage("zh")
    renderApp(<MissingNotice cluster="local" />)
    expect(await screen.findByText(/^broker-b 已 \d+ 秒无应答：broker-b（10.0.0.2:10911）拒绝连接。缺少它的数据均为未知。$/)).toBeTruthy()
  })

  it("says nothing while all that is known answers", async () => {
    answer(OVERVIEW, overview())
    const { cache } = renderApp(<MissingNotice cluster="local" />)
    await cache.fetchQuery({ queryKey: ["clusters", "local", "overview"], queryFn: () => overview() })
    expect(screen.queryByRole("status")).toBeNull()
  })
})
