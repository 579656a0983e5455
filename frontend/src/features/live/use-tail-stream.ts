import { useCallback, useEffect, useState } from "react"
import { env } from "@/config/env"
import type { TailFrame, TailRequest } from "./frames"
import { TailConnection } from "./tail-connection"
import { cleared, continued, emptyTail, paused, reconnected, type TailState, withFrames } from "./tail-state"

/** Frames are drawn together, a few times a second. */
const DRAW_EVERY_MS = 150

export interface TailStream {
  state: TailState
  isOpen: boolean
  pause: () => void
  proceed: () => void
  clear: () => void
}

/** The tail of `request`, begun anew whenever that changes; none for null. */
export function useTailStream(request: TailRequest | null): TailStream {
  const wanted = request && JSON.stringify(request)
  const [begun, setBegun] = useState(wanted)
  const [state, setState] = useState(emptyTail)
  const [isOpen, setOpen] = useState(false)
  if (begun !== wanted) {
    setBegun(wanted)
    setState(emptyTail)
  }
  useEffect(() => {
    if (wanted === null) return
    let frames: TailFrame[] = []
    const connection = new TailConnection(
      env.tailUrl,
      JSON.parse(wanted) as TailRequest,
      (frame) => frames.push(frame),
      (open) => {
        setOpen(open)
        if (!open) setState(reconnected)
      },
    )
    const timer = window.setInterval(() => {
      if (frames.length === 0) return
      const taken = frames
      frames = []
      setState((known) => withFrames(known, taken))
    }, DRAW_EVERY_MS)
    return () => {
      window.clearInterval(timer)
      connection.close()
      setOpen(false)
    }
  }, [wanted])
  const pause = useCallback(() => setState((known) => paused(known, new Date().toISOString())), [])
  const proceed = useCallback(() => setState(continued), [])
  const clear = useCallback(() => setState(cleared), [])
  return { state, isOpen, pause, proceed, clear }
}
