import { createStore } from "@/lib/store"

/** The topics that are ticked in the list, for one action on all of them; forgotten with the page. */
export const chosenTopics = createStore<readonly string[]>([])

/** As many as one request may name. */
export const MAX_CHOSEN = 200
