import { SettingsPage } from "@/features/accounts/components/settings-page"

export const SettingsRoute = () => <SettingsPage />
