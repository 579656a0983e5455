import type { Cluster } from "@/lib/api-types"

/** Whether some brokers of a cluster answer and others do not. */
export const isPartly = ({ brokers, brokers_answering: answering }: Cluster): boolean => brokers !== null && answering !== null && answering > 0 && answering < brokers
