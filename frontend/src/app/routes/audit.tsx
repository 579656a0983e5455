import { AuditPage } from "@/features/audit/components/audit-page"

export const AuditRoute = () => <AuditPage />
