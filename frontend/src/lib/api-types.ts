// Names for the shapes of the API. `npm run api` makes api-schema.gen.ts from openapi.json, the document as it is served.
import type { components } from "@/lib/api-schema.gen"

type Schemas = components["schemas"]

/** One page of a list: cursors instead of page numbers, because the data moves. */
export interface Page<T> {
  items: T[]
  next_cursor: string | null
  total: number | null
}

export interface Items<T> {
  items: T[]
}

export type Me = Schemas["Me"]
export type Naming = Schemas["Naming"]
export type Definitions = Schemas["DefinitionsFile"]
export type DefinitionRemark = Schemas["Remark"]
export type DefinitionsPlan = Schemas["DefinitionsPlan"]
export type PlannedDefinition = Schemas["PlannedItem"]
export type DefinitionsApplied = Schemas["DefinitionsApplied"]
export type AppliedDefinition = Schemas["AppliedItem"]
export type Cluster = Schemas["Cluster"]
export type ClusterDetail = Schemas["ClusterDetail"]
export type Ability = Schemas["Ability"]
export type ClusterInput = Schemas["ClusterCreateRequest"]
export type ClusterChange = Schemas["PatchedClusterChangeRequest"]
export type ProbeInput = Schemas["ProbeRequest"]
export type TlsInput = Schemas["TlsRequest"]
export type ProbeReport = Schemas["ProbeReport"]
export type ProbeStep = Schemas["ProbeStep"]
export type BrokerSettings = Schemas["BrokerSettings"]
export type BrokerSetting = Schemas["BrokerSetting"]
export type SettingChange = Schemas["SettingChange"]
export type SettingsPreview = Schemas["SettingsPreview"]
export type SettingsChanged = Schemas["SettingsChanged"]
export type BrokerAccount = Schemas["BrokerAccount"]
export type BrokerAccounts = Schemas["BrokerAccounts"]
export type BrokerAccountChanged = Schemas["BrokerAccountChanged"]
export type BrokerAccountInput = Schemas["AccountCreateRequest"]
export type BrokerAccountChange = Schemas["PatchedAccountChangeRequest"]
export type BrokerAccessControl = Schemas["BrokerAccessControl"]
export type GlobalAddresses = Schemas["GlobalAddresses"]
export type GlobalAddressesChanged = Schemas["GlobalAddressesChanged"]
export type Broker = Schemas["Broker"]
export type Replica = Schemas["Replica"]
export type Replicas = Schemas["Replicas"]
export type ActivityEvent = Schemas["ActivityEvent"]
export type EventKind = Schemas["EventKind"]
export type Overview = Schemas["Overview"]
export type MissingBroker = Schemas["MissingBroker"]
export type OverviewHistory = Schemas["OverviewHistory"]
export type TopicSummary = Schemas["TopicSummary"]
export type Topic = Schemas["Topic"]
export type TopicQueue = Schemas["TopicQueue"]
export type TopicQueues = Schemas["TopicQueues"]
export type BrokerQueues = Schemas["BrokerQueues"]
export type BrokerQueueChange = Schemas["BrokerQueuesRequest"]
export type QueueChanges = Schemas["QueueChanges"]
export type TopicAnalysis = Schemas["TopicAnalysis"]
export type TopicPurge = Schemas["TopicPurge"]
export type PauseInput = Schemas["PauseRequest"]
export type BulkTopic = Schemas["BulkTopic"]
export type BulkTopics = Schemas["BulkTopics"]
/** One change of many topics. */
export type BulkWish = { action: "delete"; body: Schemas["TopicNamesRequest"] } | { action: "update"; body: Schemas["BulkChangeRequest"] }
export type TopicProducer = Schemas["TopicProducer"]
export type TopicNote = Schemas["TopicNote"]
export type TopicStats = Schemas["TopicStats"]
export type TopicProducers = Schemas["TopicProducers"]
export type BrokerOutcome = Schemas["BrokerOutcome"]
export type TopicChanged = Schemas["TopicChanged"]
export type GroupChanged = Schemas["GroupChanged"]
export type PartlyDeleted = Schemas["PartlyDeleted"]
export type TopicImpact = Schemas["TopicImpact"]
export type GroupCloneInput = Schemas["GroupCloneRequest"]
export type GroupCloned = Schemas["GroupCloned"]
export type GroupAction = "pause" | "resume" | "delete"
export type BulkGroup = Schemas["BulkGroup"]
export type BulkGroups = Schemas["BulkGroups"]
export type GroupsWish = Schemas["GroupsPreviewRequest"]
export type GroupPlan = Schemas["GroupPlan"]
export type GroupPlans = Schemas["GroupPlans"]
export type GroupMove = Schemas["GroupMove"]
export type GroupMoves = Schemas["GroupMoves"]
export type GroupImpact = Schemas["GroupImpact"]
export type GroupSummary = Schemas["GroupSummary"]
export type GroupQueue = Schemas["GroupQueue"]
export type Group = Schemas["Group"]
export type GroupHistory = Schemas["LagHistory"]
export type GroupClients = Schemas["GroupClients"]
export type GroupClient = Schemas["GroupClient"]
export type GroupMember = Schemas["GroupMember"]
export type GroupSubscriptions = Schemas["GroupSubscriptions"]
export type GroupSubscription = Schemas["GroupSubscription"]
export type OffsetPreview = Schemas["OffsetPreviewRequest"]
export type OffsetPlan = Schemas["OffsetPlan"]
export type PlannedQueue = Schemas["PlannedQueue"]
export type OffsetApply = Schemas["OffsetApplyRequest"]
export type OffsetsMoved = Schemas["OffsetsMoved"]
export type OffsetSnapshot = Schemas["OffsetSnapshot"]
export type MessageSummary = Schemas["MessageSummary"]
export type Message = Schemas["MessageDetail"]
/** A message whose contents the reader may see. */
export type WholeMessage = Message & { body: NonNullable<Message["body"]>; properties: NonNullable<Message["properties"]> }
export const isWhole = (message: Message): message is WholeMessage => message.body !== null && message.properties !== null
export type ResendInput = Schemas["ResendRequest"]
export type Resent = Schemas["Resent"]
export type MessageDelivery = Schemas["Delivery"]
/** Which known brokers did not answer a search is told once there are several. */
export type MessageSearch = Schemas["Search"] & { missing?: MissingBroker[] }
export type KeyLookup = Schemas["KeyLookupAnswer"]
export type SavedSearch = Schemas["SavedSearch"]
export type SavedSearchList = Schemas["SavedSearchList"]
export type SavedSearchInput = Schemas["SavedSearchCreateRequest"]
export type Scanned = Schemas["Scanned"]
export type ScanEnd = Pick<Schemas["ScanPage"], "end" | "next_cursor" | "complete" | "missing" | "scanned">
/** A line of a scan that is streamed. */
export type ScanLine =
  | { type: "match"; message: MessageSummary }
  | { type: "progress"; scanned: Scanned }
  | ({ type: "end" } & ScanEnd)
  | { type: "error"; code: string; detail: string; next_cursor: string | null }
export type Timeline = Schemas["Timeline"]
export type TimelineEvent = Schemas["TimelineEvent"]
export type MessageTrace = Schemas["MessageTrace"]
export type TracedConsumption = Schemas["TracedConsumption"]
export type DeliverInput = Schemas["DeliverRequest"]
export type Delivered = Schemas["Delivered"]
export type BrowseAnswer = Schemas["Browse"]
export type QueuePage = Schemas["QueuePage"]
export type ProduceMessage = Schemas["ProduceMessage"]
export type ProduceResult = Schemas["ProduceResult"]
export type Produced = Schemas["Produced"]
export type PreparedMessage = Schemas["PreparedMessage"]
export type DeadLetterGroups = Schemas["DeadLetterGroups"]
export type DeadLetterGroup = DeadLetterGroups["items"][number]
export type DeadLetterCauses = Schemas["DeadLetterCauses"]
export type DeadLetterCause = DeadLetterCauses["items"][number]
export type DeadLetters = Schemas["DeadLetters"]
export type DeadLetter = DeadLetters["items"][number]
export type ScheduledSummary = Schemas["ScheduledSummary"]
export type ScheduledMessages = Schemas["ScheduledMessages"]
export type ScheduledMessage = ScheduledMessages["items"][number]
export type ScheduledDetail = Schemas["ScheduledDetail"]
export type TransactionRows = Schemas["TransactionRows"]
export type TransactionRow = TransactionRows["items"][number]
export type TransactionDetail = Schemas["TransactionDetail"]
export type TransactionHook = Schemas["TransactionHook"]
export type TransactionHookInput = Pick<Schemas["HookCreateRequest"], "group" | "url"> & Partial<Schemas["HookCreateRequest"]>
export type TransactionHookChange = Partial<Schemas["PatchedHookChangeRequest"]>
export type TransactionChecked = Schemas["TransactionChecked"]
export type EndedTransaction = Schemas["EndedTransaction"]
export type ScheduleOutcome = Schemas["ScheduleOutcome"]
export type RedriveAsked = Omit<Schemas["RedriveRequest"], "originals" | "allow_live_target" | "dry_run" | "limits"> & {
  limits: { messages_per_second: number; max_messages?: number; max_minutes?: number }
  originals?: Schemas["RedriveRequest"]["originals"]
  allow_live_target?: boolean
}
export type RedrivePreview = Schemas["RedrivePreview"]
export type RedriveOutcomes = Schemas["RedriveOutcomes"]
export type RedriveOutcome = RedriveOutcomes["items"][number]
export type Job = Schemas["Job"]
export type JobStateCode = Schemas["StateCodeEnum"]
export type JobChange = Schemas["PatchedJobChangeRequest"]
export type JobWorkers = Schemas["JobWorkers"]
export type JobWorker = Schemas["JobWorker"]
export type JobArtefacts = Schemas["JobArtefacts"]
export type JobProgress = Schemas["JobProgress"]
export type JobForecastMessage = Schemas["ForecastMessage"]
export type ScheduleRun = Schemas["ScheduleRun"]
export type MissingRequest = Schemas["ReplayMissingRequest"]
export type JobLog = Schemas["JobLog"]
export type JobReport = Schemas["JobReport"]
export type JobRequest = Schemas["JobRequestRequest"]
export type Schedule = Schemas["Schedule"]
export type SchedulePreview = Schemas["SchedulePreviewRequest"]
export type NextRuns = Schemas["NextRuns"]
export type ScheduleInput = Schemas["ScheduleWriteRequest"]
export type Alert = Schemas["Alert"]
export type AlertCounts = Schemas["AlertCounts"]
export type Rule = Schemas["Rule"]
/** What is left out takes the default of the server. */
export type RuleInput = Partial<Schemas["RuleWriteRequest"]> & Pick<Schemas["RuleWriteRequest"], "name" | "metric" | "limit">
export type RuleLimits = Partial<Schemas["RuleLimitsRequest"]> & Pick<Schemas["RuleLimitsRequest"], "metric" | "limit">
export type RulePreview = Schemas["RulePreview"]
export type Silence = Schemas["Silence"]
export type SilenceInput = Pick<Schemas["SilenceCreateRequest"], "ends_at" | "reason"> & Partial<Schemas["SilenceCreateRequest"]>
export type AlertChannel = Schemas["Channel"]
export type AlertChannelInput = Partial<Schemas["ChannelCreateRequest"]> & Pick<Schemas["ChannelCreateRequest"], "name" | "kind">
export type AlertDelivery = Schemas["AlertDelivery"]
export type Token = Schemas["Token"]
export type NewToken = Schemas["NewToken"]
export type TokenInput = Schemas["TokenCreateRequest"]
export type User = Schemas["User"]
export type OpenSession = Schemas["OpenSession"]
export type Role = Schemas["Role"]
export type RoleRule = Schemas["RoleRule"]
export type RoleList = Schemas["RoleList"]
export type RoleInput = Schemas["RoleCreateRequest"]
export type AccessQuestion = Schemas["AccessQuestionRequest"]
export type AccessAnswer = Schemas["AccessAnswer"]
export type Covered = Schemas["Covered"]
export type UserInput = Schemas["UserCreateRequest"]
export type AuditEntry = Schemas["AuditRecord"]
export type AuditPage = Schemas["AuditPage"]
export type TopicInput = Schemas["TopicCreateRequest"]
export type TopicChange = Schemas["PatchedTopicChangeRequest"]
/** What is left out takes the default of the server. */
export type GroupInput = Omit<Schemas["GroupCreateRequest"], "consume_broadcast_enabled">
export type GroupChange = Schemas["PatchedGroupChangeRequest"]
export type Range = "15m" | "1h" | "6h" | "24h" | "7d"
