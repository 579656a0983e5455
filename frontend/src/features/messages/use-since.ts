import { useFormat } from "@/hooks/use-format"
import type { Message } from "@/lib/api-types"

const LONG_MS = 10_000

/** Returns what says how long after the sending of a message a moment was. */
export function useSince(message: Message): (at: string) => string {
  const format = useFormat()
  const start = Date.parse(message.born_at)
  return (at) => {
    const ms = Date.parse(at) - start
    // More than a few seconds are a wait, whose length one wants to read; the times beside it have the milliseconds.
    return `${ms > 0 ? "+" : ""}${ms < LONG_MS ? format.milliseconds(ms) : format.duration(ms)}`
  }
}
