import { ExportWizard } from "@/features/jobs/components/export-wizard"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useTopic } from "@/features/topics/api/get-topic"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"
import { SourceQueues, StoredOverTime } from "./source-topic"

export function NewExportRoute() {
  const cluster = useCluster()
  const [{ topic }] = useUrlState()
  return (
    <ExportWizard
      topics={useTopicNames(cluster).data ?? []}
      source={useTopic(cluster, topic).data}
      stored={topic && <StoredOverTime cluster={cluster} topic={topic} />}
      queues={topic && <SourceQueues cluster={cluster} topic={topic} />}
    />
  )
}
