import { api } from "@/lib/api-client"
import type { CurlRequest } from "@/lib/curl"

/** Does for somebody what the shown command would do. */
export const runRequest = ({ path, body, headers }: CurlRequest) => api.post(path, body, headers ? { headers } : {})
