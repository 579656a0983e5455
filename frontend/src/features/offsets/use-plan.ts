import { useCallback, useState } from "react"
import type { OffsetPlan, OffsetPreview } from "@/lib/api-types"
import { usePreviewOffsets } from "./api/preview-offsets"
import { placeOf } from "./wish"

const NOTHING: ReadonlySet<string> = new Set()

/** The plan for a wish, and the queues that were left out of it; it counts only while the wish is the same. */
export function usePlan(cluster: string, group: string, wish: OffsetPreview | null) {
  const preview = usePreviewOffsets(cluster, group)
  const [planned, setPlanned] = useState<{ key: string; whole: OffsetPlan } | null>(null)
  const [left, setLeft] = useState(NOTHING)
  const key = JSON.stringify(wish)
  const whole = planned?.key === key ? planned.whole : null
  const asked = wish && limited(wish, whole, left)
  const isCurrent = whole !== null && asked !== null && JSON.stringify(preview.variables) === JSON.stringify(asked)
  const { mutate } = preview

  const ask = () => {
    setLeft(NOTHING)
    if (wish) mutate(wish, { onSuccess: (found) => setPlanned({ key, whole: found }) })
  }
  const leave = useCallback(
    (place: string, isLeft: boolean) => {
      const next = new Set(left)
      if (isLeft) next.add(place)
      else next.delete(place)
      setLeft(next)
      if (wish && whole?.queues.some((queue) => !next.has(placeOf(queue)))) mutate(limited(wish, whole, next))
    },
    [left, wish, whole, mutate],
  )
  const forget = () => {
    setPlanned(null)
    preview.reset()
  }
  return { asked, whole, left, plan: isCurrent ? (preview.data ?? null) : null, error: preview.error, isPending: preview.isPending, ask, leave, forget }
}

/** The wish for the queues that were not left out; for all of them it names none. */
function limited(wish: OffsetPreview, whole: OffsetPlan | null, left: ReadonlySet<string>): OffsetPreview {
  if (!whole || left.size === 0) return wish
  const queues = whole.queues.filter((queue) => !left.has(placeOf(queue))).map(({ broker, queue_id }) => ({ broker, queue_id }))
  return { ...wish, queues }
}
