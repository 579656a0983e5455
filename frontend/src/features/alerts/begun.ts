import type { Alert } from "@/lib/api-types"

/** Since when the trouble of an alert goes on: a while without data in between begins no other one. */
export const begunOf = ({ state, since, fired_at: firedAt }: Pick<Alert, "state" | "since" | "fired_at">): string => (state === "firing" ? (firedAt ?? since) : since)
