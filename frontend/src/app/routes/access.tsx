import { AccessPage } from "@/features/accounts/components/access-page"

export const AccessRoute = () => <AccessPage />
