import { screen, waitFor } from "@testing-library/react"
import i18next from "i18next"
import { afterEach, describe, expect, it } from "vitest"
import { densityPreference, languagePreference, zonePreference } from "@/lib/preferences"
import { reader } from "@/testing/factories"
import { button, choose, errorOf, field, findField, refuseFields, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { SettingsPage } from "./settings-page"

const PASSWORD = "POST /api/v1/me/password"

afterEach(async () => {
  await i18next.changeLanguage("en")
  zonePreference.set("browser")
  densityPreference.set("standard")
})

describe("how the console looks", () => {
  it("speaks Chinese at once when that is chosen, and keeps it for the next visit", async () => {
    const { user } = renderApp(<SettingsPage />)
    await user.click(await screen.findByText("中文"))
    expect(await screen.findByText("外观")).toBeTruthy()
    expect(languagePreference.get()).toBe("zh")
  })

  it("keeps how dense rows are in this browser", async () => {
    const { user } = renderApp(<SettingsPage />)
    await user.click(await screen.findByText("Compact"))
    expect(densityPreference.get()).toBe("compact")
  })

  it("writes a chosen zone into the address, so that a link shows the same times", async () => {
    const { user, address } = renderApp(<SettingsPage />)
    await retype(user, await findField("Time zone"), "Shanghai")
    await choose(user, field("Time zone"), "Asia/Shanghai")
    expect(zonePreference.get()).toBe("Asia/Shanghai")
    await waitFor(() => expect(address()).toContain("zone=Asia"))
  })
})

describe("one's own password", () => {
  const fill = async (next: string) => {
    const { user } = renderApp(<SettingsPage />)
    await user.type(await findField("Current password"), "old secret")
    await user.type(field("New password"), next)
    return user
  }

  it("is changed with the present one, and the fields are emptied", async () => {
    answer(PASSWORD, null, 204)
    const user = await fill("new secret")
    await user.click(button("Change password"))
    expect(await screen.findByText("The password was changed")).toBeTruthy()
    expect(requests(PASSWORD)[0]?.body).toEqual({ current: "old secret", new: "new secret" })
    expect([field("Current password").value, field("New password").value]).toEqual(["", ""])
  })

  it("needs eight characters", async () => {
    await fill("1234567")
    expect(button("Change password").disabled).toBe(true)
  })

  it("shows at the field that the present password is wrong, and forgets nothing", async () => {
    refuseFields(PASSWORD, { current: "This is not your password." })
    const user = await fill("new secret")
    await user.click(button("Change password"))
    await waitFor(() => expect(errorOf(field("Current password"))).toBe("This is not your password."))
    expect(field("New password").value).toBe("new secret")
  })
})

it("tells a viewer which rights the role gives", async () => {
  renderApp(<SettingsPage />, { me: reader() })
  expect(await screen.findByText("nadia")).toBeTruthy()
  expect(screen.getByText("read", { selector: "dd, dd *, td, span" })).toBeTruthy()
})

it("names role and rights in the language of the reader", async () => {
  await i18next.changeLanguage("zh")
  renderApp(<SettingsPage />, { me: reader() })
  expect(await screen.findByText("只读（viewer）")).toBeTruthy()
  expect(screen.getByText("查看", { selector: "dd, dd *" })).toBeTruthy()
  await i18next.changeLanguage("en")
})
