import type { Rule } from "@/lib/api-types"

type Metric = Rule["metric"]

const ADVICE = {
  replica_lag_bytes: "behind",
  replica_lag_ms: "behind",
  replicas_out_of_sync: "outOfSync",
  replicas_unclean: "unclean",
  broker_without_master: "withoutMaster",
  broker_refuses_sends: "refusesSends",
  broker_stuck: "stuck",
  broker_set_back: "setBack",
  elections_per_hour: "elections",
  controllers_silent: "silent",
  controllers_leaderless: "leaderless",
  controller_engine_down: "engineDown",
  controller_engine_used: "engineUsed",
} as const satisfies Partial<Record<Metric, string>>

type Advised = keyof typeof ADVICE

/** The words on what to do about an alert of this metric; none where the metric says it all. */
export const adviceOn = (metric: Metric): (typeof ADVICE)[Advised] | undefined => (metric in ADVICE ? ADVICE[metric as Advised] : undefined)

/** Their subject is a cluster, the others' a broker name. */
export const isOfControllers = (metric: Metric): boolean => metric.startsWith("controller")
