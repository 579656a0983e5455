import { act, screen, waitFor } from "@testing-library/react"
import { afterEach, describe, expect, it } from "vitest"
import { chooseLanguage } from "@/lib/i18n"
import { languagePreference, zonePreference } from "@/lib/preferences"
import { browserZone, zoneLabel } from "@/lib/time"
import { renderApp } from "@/testing/render"
import { useFormat } from "./use-format"

const AT = "2025-07-01T22:30:15.250Z"

function Written() {
  const format = useFormat()
  const { zone } = format
  return (
    <>
      <p>{`zone ${zone} ${format.zoneLabel(Date.parse(AT))}`}</p>
      <p>{`when ${format.when(AT)}`}</p>
      <p>{`exactly ${format.when(Date.parse(AT), true)}`}</p>
      <p>{`took ${format.duration(90_000)}`}</p>
    </>
  )
}

afterEach(() =>
  act(async () => {
    zonePreference.set("browser")
    await chooseLanguage("en")
    languagePreference.set(null)
  }),
)

describe("times on a page", () => {
  it("are in the zone of the address, so that a shared link shows the same to everybody", async () => {
    zonePreference.set("America/New_York")
    renderApp(<Written />, { at: "/?zone=Asia%2FShanghai" })
    expect(await screen.findByText("when 2 Jul 2025 06:30")).toBeTruthy()
    expect(screen.getByText("exactly 2 Jul 2025 06:30:15.250")).toBeTruthy()
    expect(screen.getByText("zone Asia/Shanghai UTC+8")).toBeTruthy()
  })

  it("are in the zone chosen in this browser where the address names none, or none that exists", async () => {
    zonePreference.set("America/New_York")
    renderApp(<Written />, { at: "/?zone=Europe%2FAtlantis" })
    expect(await screen.findByText("when 1 Jul 2025 18:30")).toBeTruthy()
    expect(screen.getByText("zone America/New_York UTC-4")).toBeTruthy()
  })

  it("can be asked for in the reader's own zone, whatever was chosen", async () => {
    zonePreference.set("Asia/Kolkata")
    renderApp(<Written />, { at: "/?zone=browser" })
    expect(await screen.findByText(`zone browser ${zoneLabel(browserZone(), Date.parse(AT))}`)).toBeTruthy()
  })

  it("follow the choice of a zone and of a language at once", async () => {
    renderApp(<Written />)
    await screen.findByText(/^when/)
    act(() => zonePreference.set("UTC"))
    expect(screen.getByText("when 1 Jul 2025 22:30")).toBeTruthy()
    expect(screen.getByText("took 1 min 30 s")).toBeTruthy()
    await act(() => chooseLanguage("zh"))
    await waitFor(() => expect(screen.getByText("when 2025-07-01 22:30")).toBeTruthy())
    expect(screen.getByText("took 1 分 30 秒")).toBeTruthy()
  })
})
