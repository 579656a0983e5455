import { Link } from "@tanstack/react-router"
import { NotApplicable } from "@/components/values/num"
import { queueAndOffset } from "@/lib/format"
import type { Place } from "../report"

/** Where a message of one side is, as a link to it. */
export function DifferencePlace({ place, topic }: { place: Place | null; topic: string | undefined }) {
  if (!place) return <NotApplicable />
  if (place.queue_id === null || place.queue_offset === null) return place.place ? <span className="mono">{place.place}</span> : <NotApplicable />
  return (
    <Link
      to="/messages"
      search={{ mode: "offset", topic, queue: String(place.queue_id), offset: String(place.queue_offset) }}
      onClick={(event) => event.stopPropagation()}
    >
      {queueAndOffset(place.queue_id, place.queue_offset)}
    </Link>
  )
}
