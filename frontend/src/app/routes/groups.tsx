import { GroupsPage } from "@/features/groups/components/groups-page"
import { useCluster } from "@/hooks/use-cluster"

export const GroupsRoute = () => <GroupsPage cluster={useCluster()} />
