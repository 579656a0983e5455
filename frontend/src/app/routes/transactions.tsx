import { TransactionsPage } from "@/features/transactions/components/transactions-page"
import { useCluster } from "@/hooks/use-cluster"

export function TransactionsRoute() {
  return <TransactionsPage cluster={useCluster()} />
}
