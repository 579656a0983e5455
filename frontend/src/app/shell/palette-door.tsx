import { useHotkeys } from "@mantine/hooks"
import { lazy, Suspense } from "react"
import { withAllWords } from "@/lib/i18n"
import { createStore, useStore } from "@/lib/store"

const asked = createStore(0)

/** Opens the palette; its code comes with the first time. */
export const openPalette = () => asked.set(asked.get() + 1)

const Palette = lazy(async () => ({ default: (await withAllWords(import("./palette"))).Palette }))

/** Where Ctrl/⌘ K is heard, in a field too. */
export function PaletteDoor() {
  const times = useStore(asked)
  useHotkeys([["mod+K", openPalette]], [])
  if (times === 0) return null
  return (
    <Suspense fallback={null}>
      <Palette asked={times} />
    </Suspense>
  )
}
