import { ApiPage } from "@/features/api-reference/components/api-page"

export const ApiReferenceRoute = () => <ApiPage />
