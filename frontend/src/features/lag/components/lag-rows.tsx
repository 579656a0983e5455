import { useTranslation } from "react-i18next"
import { LagRail } from "@/components/rail/rail"
import { NotApplicable, Num } from "@/components/values/num"
import { Duration } from "@/components/values/time"
import { useFrozenOrder } from "@/hooks/use-frozen-order"
import type { GroupQueue } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import { queueId } from "../trends"
import classes from "./lag.module.css"

interface LagRowsProps {
  queues: readonly GroupQueue[]
  scale: number
  growing: ReadonlySet<string>
}

/** For a phone: two lines a queue over a rail of full width, those first that were worst when the page was opened. */
export function LagRows({ queues, scale, growing }: LagRowsProps) {
  const { t } = useTranslation()
  const sorted = [...queues].sort((a, b) => (b.lag ?? -1) - (a.lag ?? -1))
  const rows = useFrozenOrder(sorted.map((queue) => ({ name: queueId(queue), queue })), "") ?? []
  const brokers = new Set(queues.map(({ broker }) => broker))
  return (
    <div>
      {rows.map(({ queue }) => {
        const isGrowing = growing.has(queueId(queue))
        return (
          <div key={queueId(queue)} className={classes.row}>
            <b>{brokers.size > 1 ? `${queue.broker} q${queue.queue_id}` : `q${queue.queue_id}`}</b>
            <small className="truncate">{queue.lag === null ? queue.unknown_reason && reasonIn(t, queue.unknown_reason) : (queue.client ?? "")}</small>
            <b className={isGrowing ? classes.growing : undefined}>
              <Num value={queue.lag} reason={queue.unknown_reason} width={44} />
            </b>
            <span>{queue.lag === null ? <NotApplicable /> : queue.lag > 0 && queue.time_lag_ms === null ? <Num value={null} /> : <Duration ms={queue.time_lag_ms} />}</span>
            <div className={classes.rail}>
              <LagRail lag={queue.lag} scale={scale} tone={isGrowing ? "growing" : "normal"} />
            </div>
          </div>
        )
      })}
    </div>
  )
}
