import { screen, waitFor } from "@testing-library/react"
import { expect, it } from "vitest"
import { admin, job, topic } from "@/testing/factories"
import { button, errorOf, field, findField, refuseFields } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { ExportWizard } from "./export-wizard"

const START = "POST /api/v1/jobs"

const wizard = (query: string, rights?: Parameters<typeof admin>[0]) =>
  renderApp(<ExportWizard topics={["orders"]} source={topic("orders")} queues={<p>the queues</p>} stored={<p>stored over time</p>} />, {
    at: `/jobs/new/export?zone=UTC${query}`,
    ...(rights && { me: admin(rights) }),
  })

it("starts a file of what was asked for without a name that nobody gave, and leads to its job", async () => {
  answer(START, job("j9", { type: "export", name: "orders as CSV" }), 202)
  const { user, address } = wizard("&topic=orders&step=start&cols=key,body")
  await user.click(await screen.findByRole("button", { name: "Export 100 messages" }))
  await waitFor(() => expect(requests(START)[0]?.body).toEqual({ type: "export", cluster: "local", source: { topic: "orders" }, format: "csv", columns: ["key", "body"] }))
  await waitFor(() => expect(address()).toBe("/jobs/j9"))
})

it("says what stays out for somebody who may not read bodies", async () => {
  const { user } = wizard("&topic=orders&step=file", { rights: ["read", "jobs"] })
  expect(await screen.findByText(/^The file has no bodies and no properties/)).toBeTruthy()
  await user.click(button("Next: Start"))
  expect(await screen.findByText("broker queue_id queue_offset store_timestamp born_timestamp message_id keys tag")).toBeTruthy()
})

it("offers no contents of a topic whose bodies its user may not read, though those of others", async () => {
  answer("POST /api/v1/access:check", ({ body }: { body: { verb: string } }) => ({ body: { allowed: body.verb !== "bodies" } }))
  answer(START, job("j9", { type: "export" }), 202)
  const { user } = wizard("&topic=orders&step=file")
  expect(await screen.findByText("The file has no bodies and no properties: they need the right “read bodies” on the topic. A condition needs it too.")).toBeTruthy()
  expect(requests("POST /api/v1/access:check").map(({ body }) => body)).toContainEqual({ verb: "bodies", kind: "topic", resource: "orders" })
  expect(screen.queryByText("body")).toBeNull()
  expect(screen.queryByText(/^This job needs rights/)).toBeNull()
  await user.click(button("Next: Start"))
  expect(await screen.findByText("broker queue_id queue_offset store_timestamp born_timestamp message_id keys tag")).toBeTruthy()
  await user.click(button("Export 100 messages"))
  await waitFor(() => expect(requests(START)[0]?.body).not.toHaveProperty("columns"))
})

it("says at once that a condition needs a right which is missing", async () => {
  answer("POST /api/v1/access:check", ({ body }: { body: { verb: string } }) => ({ body: { allowed: body.verb !== "bodies" } }))
  wizard("&topic=orders&where=key%20=%20'a'")
  expect((await screen.findByText("This job needs rights that you do not have:")).parentElement?.textContent).toContain("“read bodies” on the topic orders")
})

it("reads by offsets instead of times, and shows the queues for it", async () => {
  const { user } = wizard("&topic=orders")
  expect(await screen.findByText("stored over time")).toBeTruthy()
  await user.click(screen.getByText("Offsets"))
  expect(await screen.findByText("the queues")).toBeTruthy()
  expect(button("Next: File").disabled).toBe(true)
  await user.type(field("Offset ranges"), "0: 1 - x")
  expect(errorOf(field("Offset ranges"))).toBe("One a line, such as 0: 1000 - 2000")
})

it("leads back to the field that the server refused, which says why", async () => {
  refuseFields(START, { "source/where": "contains a query" })
  const { user } = wizard("&topic=orders&where=x&step=start")
  await user.click(await screen.findByRole("button", { name: "Export this range" }))
  await user.click(await screen.findByRole("button", { name: "Go to Source" }))
  expect(errorOf(await findField("Condition"))).toBe("contains a query")
  await user.type(field("Condition"), "y")
  await waitFor(() => expect(errorOf(field("Condition"))).toBeUndefined())
})
