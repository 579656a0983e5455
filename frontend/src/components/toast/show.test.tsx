import { notifications } from "@mantine/notifications"
import { act, screen, waitFor } from "@testing-library/react"
import { afterEach, expect, it } from "vitest"
import { Problem } from "@/lib/problem"
import { renderApp } from "@/testing/render"
import { toastDone, toastFailed } from "./toast"

afterEach(() => act(() => notifications.clean()))

const fail = (title: string) => act(() => toastFailed(title, new Problem(409, { title: "Conflict", detail: "Taken." })))

it("shows the newest although three errors were never closed: the oldest gives way", async () => {
  renderApp(<p>a page</p>)
  await screen.findByText("a page")
  for (const title of ["first", "second", "third"]) fail(title)
  act(() => toastDone("Topic orders was created"))
  expect(await screen.findByText("Topic orders was created")).toBeTruthy()
  await waitFor(() => expect(screen.queryByText("first")).toBeNull())
  expect(screen.getByText("third")).toBeTruthy()
})

it("lets what closes by itself give way before an error", async () => {
  renderApp(<p>a page</p>)
  await screen.findByText("a page")
  fail("first")
  act(() => toastDone("done"))
  for (const title of ["second", "third"]) fail(title)
  expect(await screen.findByText("third")).toBeTruthy()
  await waitFor(() => expect(screen.queryByText("done")).toBeNull())
  expect(screen.getByText("first")).toBeTruthy()
})
