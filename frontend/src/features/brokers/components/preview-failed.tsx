import { useTranslation } from "react-i18next"
import { Failed } from "@/components/states/failed"
import { Problem } from "@/lib/problem"

/** Why there is no preview: a controller that answers refuses the change, or nobody says what it would do. */
export function PreviewFailed({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useTranslation()
  const isRefused = error instanceof Problem && error.status >= 400 && error.status < 500
  return <Failed what={t(isRefused ? "replicas.cannot" : "replicas.noPreview")} error={error} retry={retry} />
}
