import { activity } from "./activity"
import { alertStory } from "./alert-story"
import { apiReference } from "./api-reference"
import { auditSearch } from "./audit-search"
import { brokerAccounts } from "./broker-accounts"
import { brokers } from "./brokers"
import { bulkTopics } from "./bulk-topics"
import { clusters } from "./clusters"
import { compare } from "./compare"
import { compareFields } from "./compare-fields"
import { controllers } from "./controllers"
import { deadLetters } from "./dead-letters"
import { decisions } from "./decisions"
import { definitions } from "./definitions"
import { exporting } from "./exporting"
import { find } from "./find"
import { forecast } from "./forecast"
import { groupBulk } from "./group-bulk"
import { groupClone } from "./group-clone"
import { groupFigures } from "./group-figures"
import { groupImpact } from "./group-impact"
import { groupOffsets } from "./group-offsets"
import { jobCauses } from "./job-causes"
import { jobPages } from "./job-pages"
import { jobTarget } from "./job-target"
import { leaving } from "./leaving"
import { life } from "./life"
import { live } from "./live"
import { members } from "./members"
import { messages } from "./messages"
import { notifying } from "./notifying"
import { offsets } from "./offsets"
import { partly } from "./partly"
import { purge } from "./purge"
import { reconcile } from "./reconcile"
import { redriveWizard } from "./redrive-wizard"
import { refusals } from "./refusals"
import { replicas } from "./replicas"
import { resend } from "./resend"
import { roles } from "./roles"
import { run } from "./run"
import { sample } from "./sample"
import { scheduled } from "./scheduled"
import { transactions } from "./transactions"
import { searches } from "./searches"
import { sides } from "./sides"
import { storeCheck } from "./store-check"
import { topicNote } from "./topic-note"
import { topicStats } from "./topic-stats"
import { topics } from "./topics"
import { trace } from "./trace"
import { wall } from "./wall"

/** What all other pages say. */
export const rest = {
  ...activity,
  ...alertStory,
  ...apiReference,
  ...auditSearch,
  ...brokerAccounts,
  ...brokers,
  ...bulkTopics,
  ...clusters,
  ...compare,
  ...compareFields,
  ...controllers,
  ...deadLetters,
  ...decisions,
  ...definitions,
  ...exporting,
  ...find,
  ...forecast,
  ...groupBulk,
  ...groupClone,
  ...groupFigures,
  ...groupImpact,
  ...groupOffsets,
  ...jobCauses,
  ...jobPages,
  ...jobTarget,
  ...leaving,
  ...life,
  ...live,
  ...members,
  ...messages,
  ...notifying,
  ...offsets,
  ...partly,
  ...purge,
  ...reconcile,
  ...redriveWizard,
  ...refusals,
  ...replicas,
  ...resend,
  ...roles,
  ...run,
  ...sample,
  ...scheduled,
  ...transactions,
  ...searches,
  ...sides,
  ...storeCheck,
  ...topicNote,
  ...topicStats,
  ...topics,
  ...trace,
  ...wall,
}
