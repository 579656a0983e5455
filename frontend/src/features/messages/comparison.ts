import { createStoredStore, useStore } from "@/lib/store"
import type { MessageAddress } from "./api/get-message"

export interface ChosenMessage extends MessageAddress {
  cluster: string
}

/** The message that waits to be set beside another one; the tab of the browser keeps it from page to page. */
export const chosenMessage = createStoredStore<ChosenMessage | null>("gantry.comparison", null, "tab")

/** The chosen one of this cluster: messages of two clusters are not compared. */
export function useChosen(cluster: string): ChosenMessage | null {
  const chosen = useStore(chosenMessage)
  return chosen?.cluster === cluster ? chosen : null
}
