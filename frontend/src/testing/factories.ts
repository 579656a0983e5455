import type { AuditEntry, Broker, Group, GroupQueue, GroupSummary, Job, Me, MessageSearch, MessageSummary, Naming, NewToken, Overview, Replica, Schedule, Token, Topic, User, WholeMessage } from "@/lib/api-types"

/** Builders say what matters to a test and hide the rest. */
export const AT = "2026-11-21T06:31:07.412Z"

export const admin = (overrides: Partial<Me> = {}): Me => ({
  id: 1,
  username: "admin",
  role: "admin",
  own_roles: [],
  rights: ["produce", "consume", "read", "bodies", "manage", "offsets", "redrive", "delete", "jobs", "admin"],
  language: "en",
  token_auth: false,
  ...overrides,
})

export const naming = (): Naming => ({
  topic: { pattern: "^[A-Za-z0-9_-]{1,127}$", max_length: 127 },
  group: { pattern: "^[A-Za-z0-9_-]{1,120}$", max_length: 120 },
  retry_prefix: "%RETRY%",
  dead_letter_prefix: "%DLQ%",
})

export const reader = (): Me => admin({ id: 2, username: "nadia", role: "viewer", rights: ["read"] })

export const topic = (name: string, overrides: Partial<Topic> = {}): Topic => ({
  name,
  kind: "normal",
  read_queues: 4,
  total_read_queues: 4,
  total_write_queues: 4,
  write_queues: 4,
  permission: "rw",
  message_type: null,
  measured_at: AT,
  messages: 100,
  size_bytes: 25_600,
  in_rate: 1,
  out_rate: 1,
  last_stored_at: AT,
  groups: 1,
  max_lag: 0,
  missing: [],
  last_known: null,
  order: false,
  brokers: ["broker-a"],
  ...overrides,
})

export const groupSummary = (name: string, overrides: Partial<GroupSummary> = {}): GroupSummary => ({
  name,
  measured_at: AT,
  state: "caught_up",
  mode: "clustering",
  clients: 2,
  lease_consumers: [],
  topics: ["orders"],
  lag: 0,
  time_lag_ms: 0,
  in_rate: 10,
  out_rate: 10,
  lag_per_second: null,
  drain_eta_ms: null,
  leases: null,
  unknown_reason: null,
  missing: [],
  last_known: null,
  drain_unknown: null,
  dead_letters: 0,
  delivery: "on",
  ...overrides,
})

export const queue = (queue_id: number, overrides: Partial<GroupQueue> = {}): GroupQueue => ({
  topic: "orders",
  broker: "broker-a",
  queue_id,
  client: "a1",
  broker_offset: 1_000,
  group_offset: 900,
  lag: 100,
  time_lag_ms: 5_000,
  unknown_reason: null,
  ...overrides,
})

export const group = (name: string, overrides: Partial<Group> = {}): Group => ({
  ...groupSummary(name),
  at: AT,
  queues: [queue(0)],
  config: { consume_enabled: true, consume_broadcast_enabled: false, retry_queue_nums: 1, retry_max_times: 16 },
  topics_hidden: false,
  ...overrides,
})

export const overview = (overrides: Partial<Overview> = {}): Overview => ({
  at: AT,
  limited: false,
  in_rate: 10,
  out_rate: 10,
  total_lag: 0,
  lag_unknown_groups: 0,
  lag_per_second: 0,
  oldest_unconsumed_ms: null,
  oldest_group: null,
  groups_behind: 0,
  groups_timed: 0,
  dead_letters: 0,
  dead_letter_groups: 0,
  disk_used_ratio: 0.2,
  disk_days_to_full: null,
  uptime_ms: 60_000,
  brokers: [broker("broker-a")],
  brokers_answering: 1,
  topics: 3,
  groups: 2,
  worst_groups: [],
  missing: [],
  unknown_reason: null,
  name_server_reason: null,
  last_known: null,
  ...overrides,
})

export const broker = (name: string, overrides: Partial<Broker> = {}): Broker => ({
  name,
  address: "10.0.0.1:10911",
  broker_id: 0,
  role: "master",
  replica_id: null,
  version: "V4_9_8",
  reachable: true,
  reason: null,
  in_rate: 10,
  out_rate: 10,
  uptime_ms: 60_000,
  disk_used_ratio: 0.2,
  commit_log_bytes: 1_000,
  log_end: 1_000,
  behind_bytes: null,
  behind_ms: null,
  send_refusal: null,
  held: null,
  ...overrides,
})

export const replica = (broker_id: number, overrides: Partial<Replica> = {}): Replica => ({
  broker_id,
  address: `10.0.0.${broker_id + 1}:10911`,
  role: broker_id === 0 ? "master" : "slave",
  reachable: true,
  reason: null,
  listed: true,
  last_seen_at: null,
  version: "V4_9_8",
  started_at: AT,
  log_begin: 0,
  log_end: 1_000,
  behind_bytes: broker_id === 0 ? null : 0,
  behind_ms: broker_id === 0 ? null : 0,
  follows: broker_id === 0 ? null : "10.0.0.1:10911",
  held: null,
  failover: null,
  ...overrides,
})

export const messageSummary = (message_id: string, overrides: Partial<MessageSummary> = {}): MessageSummary => ({
  message_id,
  topic: "orders",
  queue_id: 2,
  queue_offset: 43_007_954,
  broker: "broker-a",
  keys: ["A17"],
  tag: "paid",
  stored_at: AT,
  size_bytes: 300,
  reconsume_times: 0,
  damage: null,
  ...overrides,
})

export const message = (message_id: string, overrides: Partial<WholeMessage> = {}): WholeMessage => ({
  ...messageSummary(message_id),
  body: { encoding: "json", data: { order: "A17" }, text: null },
  properties: { KEYS: "A17" },
  hidden: null,
  born_at: AT,
  born_host: "10.0.0.1:5000",
  store_host: "10.0.0.2:10911",
  log_offset: 48_220,
  offset_id: "0A",
  body_bytes: 15,
  from_slave: null,
  ...overrides,
})

export const search = (overrides: Partial<MessageSearch> = {}): MessageSearch => ({
  verdict: "match",
  complete: true,
  missing: [],
  from_slaves: [],
  items: [],
  next_cursor: null, prev_cursor: null,
  searched: {
    index_files: 3,
    index_files_skipped_by_time: 5,
    entries_visited: 214,
    collisions_dropped: 1,
    expired_messages: 0,
    from: AT,
    to: AT,
    elapsed_ms: 12,
  },
  ...overrides,
})

export const job = (id: string, overrides: Partial<Job> = {}): Job => ({
  id,
  type: "replay",
  name: "orders to staging",
  cluster: "local",
  state: "running",
  cancel_requested: false,
  pause_requested: false,
  retries: 0,
  max_retries: 3,
  next_try_at: null,
  dry_run: false,
  limits: null,
  max_minutes: null,
  state_reason: null,
  state_code: null,
  request: { type: "replay", source: { topic: "orders" }, target: { topic: "staging" } },
  counters: { planned: 1_000, read: 600, matched: 500, filtered: 100, damaged: 0, written: 500, failed: 0, unknown: 0, skipped: 0, bytes: 64_000 },
  rate: 50,
  eta_ms: 8_000,
  created_at: AT,
  started_at: AT,
  planned_at: AT,
  worked_ms: 0,
  finished_at: null,
  created_by: "admin",
  schedule_id: null,
  attempt: 1,
  result: null,
  artefacts: [],
  log_bytes: null,
  files_removed_at: null,
  ...overrides,
})

export const token = (overrides: Partial<Token> = {}): Token => ({
  id: 1,
  name: "ci",
  user: "admin",
  scopes: ["produce", "consume"],
  prefix: "gty_ab12cd",
  expires_at: null,
  last_used_at: null,
  last_used_address: "",
  created_at: AT,
  ...overrides,
})

export const newToken = (overrides: Partial<NewToken> = {}): NewToken => ({ ...token(), token: "gty_ab12cd_0123456789abcdef", ...overrides })

export const userRow = (overrides: Partial<User> = {}): User => ({
  id: 7,
  username: "nadia",
  role: "viewer",
  own_roles: [],
  is_active: true,
  created_at: AT,
  last_login_at: null,
  etag: '"1"',
  ...overrides,
})

export const auditEntry = (overrides: Partial<AuditEntry> = {}): AuditEntry => ({
  id: 1,
  at: AT,
  actor: "olga",
  token: null,
  action: "topic.create",
  resource: "local/topics/orders",
  result: "ok",
  request_id: "01JDX6R8K3ZC5W2N",
  address: "127.0.0.1",
  before: null,
  after: null,
  ...overrides,
})

export const schedule = (id: string, overrides: Partial<Schedule> = {}): Schedule => ({
  id,
  name: "nightly copy",
  cron: "0 3 * * *",
  zone: "UTC",
  enabled: true,
  job: { type: "replay" },
  overlap: "skip",
  catch_up_ms: null,
  jitter_ms: 0,
  next_run_at: AT,
  next_runs: [AT],
  last_run_at: null,
  last_state: null,
  stopped_reason: null,
  etag: '"1"',
  ...overrides,
})

export const page = <T>(items: T[], next_cursor: string | null = null) => ({ items, next_cursor, total: items.length })
