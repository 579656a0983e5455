import { useState } from "react"
import { toastDone, toastFailed } from "@/components/toast/toast"
import type { BulkTopic, BulkWish } from "@/lib/api-types"
import { useApplyBulk } from "./api/apply-bulk"
import { chosenTopics } from "./chosen-topics"

interface Words {
  done: string
  failed: string
}

/** Makes a change of many topics; those that did not make it stay ticked, and are told with the reason. */
export function useBulk(cluster: string, onClose: () => void) {
  const apply = useApplyBulk(cluster)
  const [lacking, setLacking] = useState<BulkTopic[]>([])
  const run = (wish: BulkWish, words: Words) =>
    apply.mutate(wish, {
      onSuccess: ({ items }) => {
        const left = items.filter(({ outcome }) => outcome !== "done")
        chosenTopics.set(left.map(({ name }) => name))
        setLacking(left)
        if (left.length === 0) {
          toastDone(words.done)
          onClose()
        }
      },
      onError: (error) => toastFailed(words.failed, error),
    })
  return { run, lacking, isBusy: apply.isPending }
}
