import { act, screen, waitFor } from "@testing-library/react"
import { beforeEach, expect, it } from "vitest"
import { job, page } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { JobsTray } from "../components/jobs-tray"
import { RunningJobs } from "../components/running-jobs"
import { useJobsFeed } from "./jobs-feed"

const LIST = "GET /api/v1/jobs"

function Shown() {
  useJobsFeed()
  return (
    <>
      <JobsTray />
      <RunningJobs />
    </>
  )
}

beforeEach(() => {
  FakeSocket.all = []
})

it("asks for the running jobs once, however often they tell of their progress", async () => {
  answer(LIST, page([job("j1")]))
  renderApp(<Shown />)
  expect(await screen.findByText("60 %")).toBeTruthy()
  act(() => FakeSocket.last.greet())
  await waitFor(() => expect(FakeSocket.last.subscribed).toContain("job:j1"))
  act(() => {
    for (let seq = 1; seq <= 40; seq += 1) FakeSocket.last.state("jobs", seq, { changed: "j1", state: "running" })
    FakeSocket.last.state("job:j1", 1, job("j1", { counters: { ...job("j1").counters, read: 800 } }))
  })
  expect(await screen.findByText("80 %")).toBeTruthy()
  expect(requests(LIST)).toHaveLength(1)
})

it("asks again when a job ends, and once only", async () => {
  let running = [job("j1")]
  answer(LIST, () => ({ body: page(running) }))
  renderApp(<Shown />)
  expect(await screen.findByText("1 job")).toBeTruthy()
  running = []
  act(() => {
    FakeSocket.last.greet()
    FakeSocket.last.state("jobs", 1, { changed: "j1", state: "succeeded" })
    FakeSocket.last.state("jobs", 2, { changed: "j1", state: "succeeded" })
  })
  expect(await screen.findByText("No job is running.")).toBeTruthy()
  expect(requests(LIST)).toHaveLength(2)
})
