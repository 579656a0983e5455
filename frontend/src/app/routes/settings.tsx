import { SettingsPage } from "@/features/accounts/components/settings-page"
import { DefinitionsPanels } from "@/features/definitions/components/definitions-panels"
import { useCluster } from "@/hooks/use-cluster"

export const SettingsRoute = () => <SettingsPage definitions={<DefinitionsPanels cluster={useCluster()} />} />
