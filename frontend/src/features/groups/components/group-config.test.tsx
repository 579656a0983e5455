import { screen, waitFor, within } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { group, reader } from "@/testing/factories"
import { button, errorOf, field, findField, refuseFields, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { GroupConfig } from "./group-config"

const CHANGE = "PATCH /api/v1/clusters/local/groups/billing"
const show = (me?: ReturnType<typeof reader>) => renderApp(<GroupConfig cluster="local" group={group("billing")} />, me ? { me } : {})

describe("the settings of a group", () => {
  it("send what was changed and nothing else", async () => {
    answer(CHANGE, { ...group("billing"), brokers: [{ broker: "broker-a", done: true, reason: null }] })
    const { user } = show()
    await retype(user, await findField("Maximum retries"), "3")
    expect(screen.getByText(/PATCH/).closest("pre")?.textContent).toContain('{"retry_max_times":3}')
    await user.click(button("Change 1 field"))
    expect(await screen.findByText("Group billing was changed")).toBeTruthy()
    expect(requests(CHANGE).map(({ body }) => body)).toEqual([{ retry_max_times: 3 }])
  })

  it("warn before consuming is stopped", async () => {
    const { user } = show()
    await user.click(await screen.findByLabelText("May consume"))
    expect(screen.getByText("Clients of the group stop receiving at once.")).toBeTruthy()
  })

  it("go back to what holds when it is cancelled, and send nothing", async () => {
    const { user } = show()
    await retype(user, await findField("Maximum retries"), "3")
    await user.click(button("Cancel"))
    expect(field("Maximum retries").value).toBe("16")
    expect(button("Nothing changed yet").disabled).toBe(true)
    expect(requests(CHANGE)).toHaveLength(0)
  })

  it("have nothing to save when a value is typed back", async () => {
    const { user } = show()
    await retype(user, await findField("Maximum retries"), "3")
    await retype(user, field("Maximum retries"), "16")
    expect(button("Nothing changed yet").disabled).toBe(true)
  })

  it("show at the field what the API says, and keep what was typed", async () => {
    refuseFields(CHANGE, { retry_max_times: "At most 1000." })
    const { user } = show()
    await retype(user, await findField("Maximum retries"), "999")
    await user.click(button("Change 1 field"))
    await waitFor(() => expect(errorOf(field("Maximum retries"))).toBe("At most 1000."))
    expect(field("Maximum retries").value).toBe("999")
  })

  it.each(["5000", ""])("do not save the number of retries %s: it stays as typed, with the range", async (typed) => {
    const { user } = show()
    await retype(user, await findField("Maximum retries"), typed)
    await user.tab()
    expect(field("Maximum retries").value.replace(",", "")).toBe(typed)
    expect(errorOf(field("Maximum retries"))).toBe("A whole number from 0 to 1,000")
    expect(button("Change 1 field").disabled).toBe(true)
  })

  it("say that they changed meanwhile, instead of writing over it", async () => {
    refuse(CHANGE, 412, "PRECONDITION_FAILED", "The group was changed since it was read.")
    const { user } = show()
    await user.click(await screen.findByLabelText("May broadcast"))
    await user.click(button("Change 1 field"))
    expect(await screen.findByText(/The group was changed since it was read/)).toBeTruthy()
  })

  it("are locked for a viewer", async () => {
    show(reader())
    expect((await findField("Maximum retries")).closest("fieldset")?.disabled).toBe(true)
  })

  it("are called unknown while no broker tells them", async () => {
    renderApp(<GroupConfig cluster="local" group={group("billing", { config: null })} />)
    expect(await screen.findByText("The settings are not known")).toBeTruthy()
    expect(within(document.body).queryByText("16")).toBeNull()
  })
})
