import { AlertsPage } from "@/features/alerts/components/alerts-page"

export const AlertsRoute = () => <AlertsPage />
