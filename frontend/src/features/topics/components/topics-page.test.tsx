import { screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { page, reader, topic } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests, type SeenRequest } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { TopicsPage } from "./topics-page"

const LIST = "GET /api/v1/clusters/local/topics"
const rowOf = async (name: string) => (await screen.findByText(name)).closest("tr") as HTMLTableRowElement

beforeEach(() => {
  FakeSocket.all = []
})

describe("the topic list", () => {
  it("writes numbers exactly, zero as zero, and what is not known as a dash with its reason", async () => {
    answer(LIST, page([topic("orders", { messages: 248_733_002 }), topic("silent", { messages: null, in_rate: 0 })]))
    renderApp(<TopicsPage cluster="local" />)
    expect(within(await rowOf("orders")).getByText("248,733,002")).toBeTruthy()
    const silent = within(await rowOf("silent"))
    expect(silent.getByRole("img", { name: "Not known: Not known" }).textContent).toBe("—")
    expect(silent.getAllByText("0").length).toBeGreaterThan(0)
  })

  it("writes the size of a topic, and says why it is not known", async () => {
    answer(LIST, page([topic("orders", { size_bytes: 3_200_000_000 }), topic("elsewhere", { size_bytes: null })]))
    renderApp(<TopicsPage cluster="local" />)
    expect(within(await rowOf("orders")).getByText("3.2 GB")).toBeTruthy()
    expect(within(await rowOf("elsewhere")).getByRole("img", { name: /Apache RocketMQ tells none/ })).toBeTruthy()
  })

  it("keeps filter and sort in the address and asks the API for them", async () => {
    answer(LIST, (request: SeenRequest) => ({ body: page([topic(`${request.query.get("kind") ?? ""}-topic`)]) }))
    const { user, address } = renderApp(<TopicsPage cluster="local" />, { at: "/topics?sort=name" })
    await screen.findByText("normal-topic")
    await user.click(screen.getByRole("button", { name: "DLQ" }))
    await screen.findByText("dlq-topic")
    expect(address()).toBe("/topics?sort=name&kind=dlq")
    expect(requests(LIST).at(-1)?.query.get("sort")).toBe("name")
  })

  it("asks for the topics that were declared so, and shows as unknown what no broker tells", async () => {
    answer(LIST, (request: SeenRequest) => ({ body: page([topic(`${request.query.get("message_type") ?? "any"}-topic`)]) }))
    const { user, address } = renderApp(<TopicsPage cluster="local" />, { at: "/topics" })
    expect(within(await rowOf("any-topic")).getByRole("img", { name: /No broker tells a message type/ })).toBeTruthy()
    await user.click(screen.getByRole("button", { name: "Ordered" }))
    await screen.findByText("fifo-topic")
    expect(address()).toBe("/topics?type=fifo")
  })

  it("moves the numbers by the live channel without asking again", async () => {
    answer(LIST, page([topic("orders", { in_rate: 1 })]))
    renderApp(<TopicsPage cluster="local" />)
    await screen.findByText("orders")
    FakeSocket.last.greet()
    FakeSocket.last.state("topics:local", 1, { items: [{ name: "orders", in_rate: 1_842 }] })
    expect(await screen.findByText("1,842")).toBeTruthy()
    expect(requests(LIST)).toHaveLength(1)
  })

  it("offers the first step when there is none", async () => {
    answer(LIST, page([]))
    renderApp(<TopicsPage cluster="local" />)
    expect(await screen.findByText("There are no topics yet")).toBeTruthy()
  })

  it("says what failed, with status, code and request id", async () => {
    refuse(LIST, 503, "BROKER_UNREACHABLE", "No broker answered.")
    renderApp(<TopicsPage cluster="local" />)
    expect(await screen.findByText("The topics could not be read")).toBeTruthy()
    expect(screen.getByText("503 BROKER_UNREACHABLE")).toBeTruthy()
    expect(screen.getByText("01JDX6R8K3ZC5W2N")).toBeTruthy()
  })

  it("shows a locked button to those who may only read", async () => {
    answer(LIST, page([topic("orders")]))
    renderApp(<TopicsPage cluster="local" />, { me: reader() })
    await screen.findByText("orders")
    expect((screen.getByRole("button", { name: "Create topic" }) as HTMLButtonElement).disabled).toBe(true)
  })
})

describe("creating a topic", () => {
  it("shows the request, refuses a bad name, and sends what was chosen", async () => {
    answer(LIST, page([topic("orders")]))
    answer("POST /api/v1/clusters/local/topics", { ...topic("payments"), brokers: [{ broker: "broker-a", done: true, reason: null }] }, 201)
    const { user } = renderApp(<TopicsPage cluster="local" />, { at: "/topics?new=topic" })
    const name = await screen.findByRole("textbox", { name: /^Topic/ })
    await user.type(name, "no spaces here")
    expect(screen.getByText("Use only letters, digits, - and _, and at most 127 characters")).toBeTruthy()
    await user.clear(name)
    await user.type(name, "payments")
    await user.click(screen.getByRole("button", { name: "Create payments" }))
    await waitFor(() =>
      expect(requests("POST /api/v1/clusters/local/topics")[0]?.body).toEqual({
        name: "payments",
        read_queues: 4,
        write_queues: 4,
        permission: "rw",
      }),
    )
  })
})
