import { act, fireEvent, screen, waitFor } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import type { JobRequest } from "@/lib/api-types"
import { reader, schedule } from "@/testing/factories"
import { button, choose, errorOf, field, findField, held, refuseFields } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, holdAnswer, refuse, requests } from "@/testing/server"
import { CreateSchedule } from "./create-schedule"

const PREVIEW = "POST /api/v1/schedules:preview"
const CREATE = "POST /api/v1/schedules"
const JOB: JobRequest = { type: "replay", cluster: "local", source: { topic: "orders" }, target: { topic: "staging" } }
const runs = (...times: string[]) => ({ next_runs: times })
const asked = () => requests(PREVIEW).map(({ body }) => (body as { cron: string }).cron)

function show({ at = "/schedules?new=replay&topic=orders&target=staging&zone=UTC", isJobWhole = true, me = undefined as ReturnType<typeof reader> | undefined } = {}) {
  return renderApp(<CreateSchedule jobFields={() => <p>the fields of the job</p>} job={JOB} isJobWhole={isJobWhole} jobName="orders to staging" />, { at, ...(me && { me }) })
}

const type = (words: string) => fireEvent.change(field("Cron"), { target: { value: words } })

beforeEach(() => {
  answer(PREVIEW, runs("2099-03-29T01:00:00.000Z", "2099-03-30T00:30:00.000Z"))
})

describe("the next runs of a new schedule", () => {
  it("are those of the scheduler, for the line and zone of the form", async () => {
    show({ at: "/schedules?new=replay&zone=Europe%2FBerlin" })
    expect(await screen.findByText(/Mar 29|29 Mar|03-29/)).toBeTruthy()
    expect(requests(PREVIEW)[0]?.body).toEqual({ cron: "0 3 * * *", zone: "Europe/Berlin", count: 5 })
  })

  it("are asked for once the line stands still, not for each letter", async () => {
    const { user } = show()
    await waitFor(() => expect(asked()).toEqual(["0 3 * * *"]))
    await user.clear(field("Cron"))
    await user.type(field("Cron"), "30 2 * * *")
    await waitFor(() => expect(asked()).toEqual(["0 3 * * *", "30 2 * * *"]))
  })

  it("stay while those of another line are asked for, marked as on their way", async () => {
    show()
    const [shown] = await screen.findAllByText(/2099/)
    holdAnswer(PREVIEW, held<object>().promise)
    type("30 2 * * *")
    await waitFor(() => expect(asked()).toContain("30 2 * * *"))
    expect(screen.getAllByText(/2099/)[0]).toBe(shown)
    expect(shown?.closest("[aria-busy]")?.getAttribute("aria-busy")).toBe("true")
  })

  it("never are those of a line that was typed over: a late answer is dropped", async () => {
    show()
    await screen.findAllByText(/2099/)
    const late = held<object>()
    holdAnswer(PREVIEW, late.promise)
    type("1 1 * * *")
    await waitFor(() => expect(asked()).toContain("1 1 * * *"))
    answer(PREVIEW, runs("2055-01-01T02:02:00.000Z"))
    type("2 2 * * *")
    await screen.findByText(/2055/)
    await act(async () => {
      late.settle(runs("2077-01-01T01:01:00.000Z"))
      await Promise.resolve()
    })
    expect(screen.queryByText(/2077/)).toBeNull()
  })

  it("do not list a time that has passed", async () => {
    answer(PREVIEW, runs("2001-01-01T00:00:00.000Z", "2099-03-30T00:30:00.000Z"))
    show()
    await screen.findByText(/2099/)
    expect(screen.queryByText(/2001/)).toBeNull()
  })

  it("are called unknown when nobody answers, and the schedule can still be made", async () => {
    refuse(PREVIEW, 503, "DRAINING", "The gateway is shutting down.")
    show()
    expect(await screen.findByText("The next runs are not known: The gateway is shutting down.")).toBeTruthy()
    expect(button("Create orders to staging").disabled).toBe(false)
  })
})

describe("the form of a new schedule", () => {
  it("shows the words of the API at the line, and no run of the line before", async () => {
    show()
    await screen.findAllByText(/2099/)
    refuseFields(PREVIEW, { cron: "'mon 0 * * *' is not a cron line: bad minute" })
    type("mon 0 * * *")
    await waitFor(() => expect(errorOf(field("Cron"))).toBe("The minute is 0 to 59, *, or a step such as */5"))
    expect(screen.queryByText(/2099/)).toBeNull()
    expect(button("Create orders to staging").disabled).toBe(true)
  })

  it("takes the refusal away as soon as the line is changed", async () => {
    refuseFields(PREVIEW, { cron: "not a cron line" })
    show()
    await waitFor(() => expect(errorOf(field("Cron"))).toBe("not a cron line"))
    type("0 4 * * *")
    expect(errorOf(field("Cron"))).toBeUndefined()
  })

  it("asks nothing about an empty line, and says what belongs there", async () => {
    show()
    await waitFor(() => expect(asked()).toHaveLength(1))
    type("   ")
    expect(errorOf(field("Cron"))).toBe("Five fields, such as 0 3 * * *")
    expect(screen.queryByText(/2099/)).toBeNull()
    expect(button("Create orders to staging").disabled).toBe(true)
    expect(asked()).toHaveLength(1)
  })

  it("sends the job with its time, and clears the address of all of it", async () => {
    answer(CREATE, schedule("s1"), 201)
    const { user, address } = show()
    await user.type(await findField("Name"), "nightly")
    await choose(user, field("Zone"), "UTC")
    await user.click(screen.getByText("Queue"))
    await user.click(button("Create nightly"))
    expect(await screen.findByText("Schedule nightly was created")).toBeTruthy()
    expect(requests(CREATE)[0]?.body).toEqual({ name: "nightly", cron: "0 3 * * *", zone: "UTC", overlap: "queue", enabled: true, catch_up_ms: null, jitter_ms: 0, job: JOB })
    await waitFor(() => expect(address()).not.toMatch(/new=|topic=|target=/))
  })

  it("is named after its job unless it gets a name", async () => {
    answer(CREATE, schedule("s1"), 201)
    const { user } = show()
    await findField("Name")
    await user.click(button("Create orders to staging"))
    await waitFor(() => expect(requests(CREATE)[0]?.body).toMatchObject({ name: "orders to staging" }))
  })

  it("waits until the job is whole", async () => {
    show({ isJobWhole: false })
    await findField("Name")
    expect(button("Create orders to staging").disabled).toBe(true)
  })

  it("shows at the fields what the API refuses of the whole, and stays open", async () => {
    refuseFields(CREATE, { name: "A schedule of this name exists." })
    const { user, address } = show()
    await findField("Name")
    await user.click(button("Create orders to staging"))
    await waitFor(() => expect(errorOf(field("Name"))).toBe("A schedule of this name exists."))
    expect(address()).toContain("new=replay")
  })

  it("is locked for those who may not start jobs", async () => {
    show({ me: reader() })
    expect((await findField("Name")).closest("fieldset")?.disabled).toBe(true)
  })
})
