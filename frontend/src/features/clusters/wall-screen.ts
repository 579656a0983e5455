import { useEffect, useState } from "react"
import { env } from "@/config/env"
import { live } from "@/lib/live"

/** Hold the screen awake while the page is seen; true while the browser does. */
export function useAwake(): boolean {
  const [isAwake, setAwake] = useState(false)
  useEffect(() => {
    let held: WakeLockSentinel | null = null
    let isGone = false
    const hold = async () => {
      if (document.visibilityState !== "visible" || !("wakeLock" in navigator)) return
      try {
        const lock = await navigator.wakeLock.request("screen")
        if (isGone) return void lock.release()
        held = lock
        setAwake(true)
        lock.addEventListener("release", () => setAwake(false))
      } catch {
        // The browser refuses where energy is short; the board says so.
        setAwake(false)
      }
    }
    void hold()
    // A hidden page loses its lock.
    document.addEventListener("visibilitychange", hold)
    return () => {
      isGone = true
      document.removeEventListener("visibilitychange", hold)
      void held?.release()
    }
  }, [])
  return isAwake
}

/** Whether the server has other pages than these, by the script that the first page names. */
async function hasOtherPages(): Promise<boolean> {
  const mine = document.querySelector('script[type="module"][src]')?.getAttribute("src")
  if (!mine) return false
  const response = await fetch(`${env.base}/`, { cache: "no-store" })
  const page = response.ok ? await response.text() : ""
  return page.includes('type="module"') && !page.includes(mine)
}

/** Load the page again when a gateway that was away comes back with a newer one. */
export function useNewestPages(): void {
  useEffect(() => {
    let wasLost = false
    return live.status.subscribe(() => {
      const { state } = live.status.get()
      if (state === "open" && wasLost) {
        // Where the answer does not come, the next connection asks again.
        hasOtherPages().then(
          (isOther) => isOther && window.location.reload(),
          () => (wasLost = true),
        )
      }
      wasLost = state !== "open" && (wasLost || state === "lost")
    })
  }, [])
}

/** Full screen, on and off. */
export async function toggleFull(): Promise<void> {
  if (document.fullscreenElement) await document.exitFullscreen()
  else await document.documentElement.requestFullscreen()
}
