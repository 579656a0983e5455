import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { RedriveAsked, RedrivePreview } from "@/lib/api-types"

/** What a redrive would do. Nothing is sent, so it may be asked again at any time. */
export const previewRedrive = (cluster: string, group: string, body: RedriveAsked) =>
  api.post<RedrivePreview>(paths.deadLetterRedrive(cluster, group), { ...body, dry_run: true })
