import { RedriveWizard } from "@/features/dead-letters/components/redrive-wizard"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"

const NONE: string[] = []

export function NewRedriveRoute() {
  const cluster = useCluster()
  return <RedriveWizard cluster={cluster} topics={useTopicNames(cluster).data ?? NONE} />
}
