import { ClustersPage } from "@/features/clusters/components/clusters-page"

export const ClustersRoute = () => <ClustersPage />
