import { createContext, useContext } from "react"

/** Why no broker of the cluster can answer, null while one does and while nobody knows. */
export const Outage = createContext<string | null>(null)

/** Why what brokers are asked for will not come now; null where nothing is known against it. */
export const useOutage = (): string | null => useContext(Outage)
