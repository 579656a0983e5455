import { render } from "@testing-library/react"
import { afterEach, expect, it, vi } from "vitest"
import { BandCanvas } from "./band-canvas"
import type { Level } from "./types"

/** Each chart watches its own width: what is drawn of a level is fixed when a chart is made. */
const watched = vi.fn()
const Still = ResizeObserver

class CountedObserver extends Still {
  constructor(callback: ResizeObserverCallback) {
    super(callback)
    watched()
  }
}

afterEach(() => void vi.stubGlobal("ResizeObserver", Still))

const TIMES = [1, 2]
const VALUES = [50, 50]

function Chart({ levels }: { levels?: Level[] }) {
  const band = { id: "rate", title: "Rate", height: 130, write: String, series: [{ id: "read", label: "read", color: "--load", values: VALUES }], ...(levels && { levels }) }
  return <BandCanvas band={band} times={TIMES} range={[1, 2]} events={[]} zone="UTC" scheme="light" syncKey="k" isFirst isLast onCursor={vi.fn()} />
}

it("is made anew for a level that changed or is gone, and not for values", () => {
  vi.stubGlobal("ResizeObserver", CountedObserver)
  const levelOf = (at: number): Level[] => [{ at, label: `limit ${at}/s` }]
  const { rerender } = render(<Chart levels={levelOf(100)} />)
  const chartsAfter = (chart: ReturnType<typeof Chart>) => (rerender(chart), watched.mock.calls.length)
  expect(chartsAfter(<Chart levels={levelOf(100)} />)).toBe(1)
  expect(chartsAfter(<Chart levels={levelOf(70)} />)).toBe(2)
  expect(chartsAfter(<Chart />)).toBe(3)
  expect(chartsAfter(<Chart />)).toBe(3)
})
