import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import type { JobRequest } from "@/lib/api-types"
import { isInstant } from "@/lib/time"

/** What is read of a source, in words: its range of times, or its queues where offsets are given. */
export function useRangeWords({ source }: Pick<JobRequest, "source">): string {
  const { t } = useTranslation()
  const format = useFormat()
  if (source?.offsets) return t("jobs.offsetsOf", { queues: source.offsets.map(({ queue }) => queue).join(t("list.comma")) })
  const written = (moment: string) => (isInstant(moment) ? format.when(moment) : moment)
  return `${source?.from ? written(source.from) : t("messages.oldest")} – ${source?.to ? written(source.to) : t("time.present")}`
}
