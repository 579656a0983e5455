import { createStore } from "@/lib/store"

/** The title of the page that is open; the last word of the breadcrumb. */
export const pageTitle = createStore("")
