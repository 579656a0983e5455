import type { UrlState } from "@/hooks/use-url-state"
import type { RedriveAsked } from "@/lib/api-types"
import type { Picked, Picks } from "./picks"

export const DESTINATIONS = ["failed_group", "origin", "other"] as const
export type Destination = (typeof DESTINATIONS)[number]
export const USUAL_RATE = 200
export const MOST_RATE = 10_000

/** Where picked dead letters should go, and how fast. */
export interface Wish {
  to: Destination
  topic: string | undefined
  rate: number
  isAllowed: boolean
}

/** Where the copies of these groups usually go: a group without native clients would leave them on its retry topic. */
export const usualOf = (clients: readonly (number | null | undefined)[]): Destination => (clients.length > 0 && clients.every((count) => count === 0) ? "origin" : "failed_group")

export function wishOf({ to, topic, rate, allow }: UrlState, usual: Destination = "failed_group"): Wish {
  return {
    to: DESTINATIONS.find((known) => known === to) ?? usual,
    topic,
    rate: rate === undefined ? USUAL_RATE : Number(rate),
    isAllowed: allow === "yes",
  }
}

/** Whether it can be asked for: another topic needs a name, and the rate its limits. */
export const isWhole = ({ to, topic, rate }: Wish): boolean => (to !== "other" || Boolean(topic)) && Number.isSafeInteger(rate) && rate >= 1 && rate <= MOST_RATE

/** The request for each group that something is picked of. */
export const askedOf = (picks: Picks, wish: Wish): [group: string, body: RedriveAsked][] => Object.entries(picks).map(([group, picked]) => [group, bodyOf(picked, wish)])

function bodyOf(picked: Picked, { to, topic, rate, isAllowed }: Wish): RedriveAsked {
  return {
    filter: picked === "all" ? {} : { causes: picked },
    target: to === "other" ? { to, topic: topic ?? "" } : { to },
    limits: { messages_per_second: rate },
    ...(isAllowed && to !== "failed_group" && { allow_live_target: true }),
  }
}
