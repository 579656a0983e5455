import type { Rule } from "@/lib/api-types"
import * as format from "@/lib/format"

type Metric = Rule["metric"]
interface Write {
  duration: (ms: number) => string
}

const TIMES: readonly Metric[] = ["group_time_lag_ms", "schedule_late_ms"]
const RATES: readonly Metric[] = ["group_in_rate", "group_out_rate", "topic_in_rate"]

export const METRICS: readonly Metric[] = [
  "group_lag",
  "group_time_lag_ms",
  "group_in_rate",
  "group_out_rate",
  "topic_in_rate",
  "dead_letters",
  "dead_letters_per_hour",
  "broker_disk_used",
  "broker_silent",
  "replica_lag_bytes",
  "replicas_out_of_sync",
  "broker_without_master",
  "disk_days_to_full",
  "jobs_failed",
  "jobs_failed_in_row",
  "job_differences",
  "schedule_late_ms",
  "schedule_missed",
]

/** The history of the last day holds these. */
export const WITH_HISTORY: readonly Metric[] = ["group_lag", "group_time_lag_ms", "group_in_rate", "group_out_rate", "broker_disk_used"]

/** How a form asks for a limit, and how many units of the API one of it is. */
export function unitOf(metric: Metric): { unit: "s" | "percent" | "perSecond" | "perHour" | "days" | null; size: number } {
  if (TIMES.includes(metric)) return { unit: "s", size: 1_000 }
  if (metric === "broker_disk_used") return { unit: "percent", size: 0.01 }
  if (RATES.includes(metric)) return { unit: "perSecond", size: 1 }
  if (metric === "dead_letters_per_hour") return { unit: "perHour", size: 1 }
  if (metric === "disk_days_to_full") return { unit: "days", size: 1 }
  return { unit: null, size: 1 }
}

/** A value or a limit of a metric as a table shows it. */
export function measured(metric: Metric, value: number, write: Write): string {
  if (TIMES.includes(metric)) return write.duration(value)
  if (metric === "broker_disk_used") return format.percent(value)
  if (RATES.includes(metric)) return `${format.rate(value)}/s`
  if (metric === "dead_letters_per_hour") return `${format.count(value)}/h`
  if (metric === "disk_days_to_full") return write.duration(value * 86_400_000)
  return format.count(value)
}

/** Where a value stands from 0 to twice the limit, as a part of one. */
export const railShare = (value: number, limit: number): number => (limit > 0 ? Math.min(1, value / (2 * limit)) : value > 0 ? 1 : 0)
