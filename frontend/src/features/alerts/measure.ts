import type { Rule } from "@/lib/api-types"
import * as format from "@/lib/format"

type Metric = Rule["metric"]
interface Write {
  duration: (ms: number) => string
}

const TIMES: readonly Metric[] = ["group_time_lag_ms", "replica_lag_ms", "schedule_late_ms"]
const SHARES: readonly Metric[] = ["broker_disk_used", "controller_engine_used"]
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
  "replica_lag_ms",
  "replicas_out_of_sync",
  "replicas_unclean",
  "broker_without_master",
  "broker_refuses_sends",
  "broker_stuck",
  "broker_set_back",
  "elections_per_hour",
  "controllers_silent",
  "controllers_leaderless",
  "controller_engine_down",
  "controller_engine_used",
  "disk_days_to_full",
  "jobs_failed",
  "jobs_failed_in_row",
  "job_differences",
  "schedule_late_ms",
  "schedule_missed",
]

/** It is so or it is not: the limit is 0. */
const YES_OR_NO: readonly Metric[] = ["broker_silent", "broker_without_master", "broker_refuses_sends", "broker_stuck", "broker_set_back", "controllers_leaderless", "controller_engine_down"]
export const isYesOrNo = (metric: Metric): boolean => YES_OR_NO.includes(metric)

/** The history of the last day holds these. */
export const WITH_HISTORY: readonly Metric[] = ["group_lag", "group_time_lag_ms", "group_in_rate", "group_out_rate", "broker_disk_used"]

/** How a form asks for a limit, and how many units of the API one of it is. */
export function unitOf(metric: Metric): { unit: "s" | "percent" | "perSecond" | "perHour" | "days" | "megabytes" | null; size: number } {
  if (TIMES.includes(metric)) return { unit: "s", size: 1_000 }
  if (SHARES.includes(metric)) return { unit: "percent", size: 0.01 }
  if (RATES.includes(metric)) return { unit: "perSecond", size: 1 }
  if (metric === "dead_letters_per_hour") return { unit: "perHour", size: 1 }
  if (metric === "replica_lag_bytes") return { unit: "megabytes", size: 1_048_576 }
  if (metric === "disk_days_to_full") return { unit: "days", size: 1 }
  return { unit: null, size: 1 }
}

/** A value or a limit of a metric as a table shows it. */
export function measured(metric: Metric, value: number, write: Write): string {
  if (TIMES.includes(metric)) return write.duration(value)
  if (SHARES.includes(metric)) return format.percent(value)
  if (RATES.includes(metric)) return `${format.rate(value)}/s`
  if (metric === "dead_letters_per_hour") return `${format.count(value)}/h`
  if (metric === "replica_lag_bytes") return format.bytes(value)
  if (metric === "disk_days_to_full") return write.duration(value * 86_400_000)
  return format.count(value)
}

/** Where a value stands from 0 to twice the limit, as a part of one. */
export const railShare = (value: number, limit: number): number => (limit > 0 ? Math.min(1, value / (2 * limit)) : value > 0 ? 1 : 0)
