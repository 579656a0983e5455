import { createContext, useContext } from "react"

/** Whether the cluster has more than one broker, known ones that do not answer included. */
export const SeveralBrokers = createContext(false)

/** Whether a queue number says where a message is only together with its broker. */
export const useSeveralBrokers = (): boolean => useContext(SeveralBrokers)
