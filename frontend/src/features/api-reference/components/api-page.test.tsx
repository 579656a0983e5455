import { readFileSync } from "node:fs"
import { fireEvent, screen, waitFor } from "@testing-library/react"
import { beforeEach, expect, it } from "vitest"
import { button, field, findField } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests, unplug } from "@/testing/server"
import type { ApiDocument } from "../document"
import { ApiPage } from "./api-page"

const LIST = "GET /api/v1/clusters/local/groups"

const served = JSON.parse(readFileSync("openapi.json", "utf8")) as ApiDocument
const SHOWN = ["checkAccess", "createTopic", "getTopic", "listGroups", "produceMessages"]
// A few operations of the real document: the page renders quickly, and what it reads is what is served.
const paths = Object.fromEntries(Object.entries(served.paths).filter(([, each]) => Object.values(each).some(({ operationId }) => SHOWN.includes(operationId))))

beforeEach(() => {
  answer("GET /api/v1/openapi.json", { ...served, paths })
})

const show = (at: string) => renderApp(<ApiPage />, { at })

it("finds an operation by words and opens it in the address", async () => {
  const { user, address } = show("/api-reference")
  fireEvent.change(await findField("Name, path or words"), { target: { value: "createTopic" } })
  await waitFor(() => expect(screen.queryByText("listGroups")).toBeNull())
  await user.click(screen.getByText("createTopic"))
  await waitFor(() => expect(address()).toContain("operation=createTopic"))
  expect(await screen.findByText("This is no rehearsal: the call changes what it names.")).toBeTruthy()
})

it("calls the gateway with what was filled in, and shows status and body", async () => {
  answer(LIST, { items: [{ name: "billing" }] })
  const { user } = show("/api-reference?operation=listGroups")
  await user.type(await findField("limit"), "7")
  await user.click(button("Send GET"))
  expect(await screen.findByText("200")).toBeTruthy()
  expect(requests(LIST)[0]?.query.get("limit")).toBe("7")
  expect(screen.getByLabelText("Body of the answer").textContent).toContain("billing")
})

it("shows a refusal as an answer, not as a failure of the page", async () => {
  refuse(LIST, 422, "INVALID", "limit is at most 500.")
  const { user } = show("/api-reference?operation=listGroups")
  await findField("limit")
  await user.click(button("Send GET"))
  expect((await screen.findByLabelText("The answer")).querySelector("[data-tone=warn]")?.textContent).toBe("422")
})

it("says that no answer came when the gateway is away", async () => {
  unplug(LIST)
  const { user } = show("/api-reference?operation=listGroups")
  await findField("limit")
  await user.click(button("Send GET"))
  expect(await screen.findByText("No answer came")).toBeTruthy()
})

it("waits for what the call needs, and gives it as code in the language of the address", async () => {
  const { user } = show("/api-reference?operation=getTopic&code=java")
  expect((await findField("cluster")).value).toBe("local")
  expect(button("Send GET").disabled).toBe(true)
  await user.type(field("topic"), "orders")
  expect(button("Send GET").disabled).toBe(false)
  expect(screen.getByLabelText("The call as code").textContent).toContain('/api/v1/clusters/local/topics/orders"')
})

it("begins with a body that holds what the call needs, in the code too, and shows code as code", async () => {
  const { user } = show("/api-reference?operation=produceMessages")
  const body = { body: { encoding: "json", data: { id: "P1", weight: 1.1 } }, keys: ["P1"] }
  expect(JSON.parse((await findField("Body")).value)).toEqual(body)
  expect(screen.getByLabelText("The call as code").textContent).toContain('"encoding": "json"')
  await user.click(screen.getByText("checkAccess"))
  expect((await screen.findByText("admin", { selector: "code" })).parentElement?.textContent).toContain("; admin may ask about others.")
})
