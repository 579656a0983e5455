import i18next from "i18next"
import { toastDone, toastUnknown } from "@/components/toast/toast"
import type { OffsetsMoved } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import { placeOf } from "../wish"

/** How a change, or the way back from one, ended: all queues moved, or which did not and why. */
export function toastMoved({ group, queues }: OffsetsMoved, isUndone = false): void {
  const stuck = queues.filter(({ done }) => !done)
  const first = stuck[0]
  const moved = queues.filter(({ done, before, after }) => done && before !== after).length
  if (!first) {
    if (isUndone) toastDone(i18next.t("offsets.movedBack", { group }), i18next.t("groups.queuesOf", { count: moved }))
    else toastDone(i18next.t("offsets.moved", { group }), i18next.t("offsets.movedQueues", { count: moved }))
    return
  }
  const reason = reasonIn(i18next.t, first.reason ?? "")
  toastUnknown(i18next.t("offsets.partlyMoved", { group, count: moved, of: queues.length }), i18next.t("offsets.firstStuck", { queue: placeOf(first), reason }))
}
