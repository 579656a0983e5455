import type { Shape } from "../shape"
import type { en } from "../en"
import { alerts } from "./alerts"
import { apiReference } from "./api-reference"
import { brokers } from "./brokers"
import { bulkTopics } from "./bulk-topics"
import { clusters } from "./clusters"
import { common } from "./common"
import { compare } from "./compare"
import { deadLetters } from "./dead-letters"
import { definitions } from "./definitions"
import { find } from "./find"
import { groupBulk } from "./group-bulk"
import { groupOffsets } from "./group-offsets"
import { groupClone } from "./group-clone"
import { groupFigures } from "./group-figures"
import { groupImpact } from "./group-impact"
import { groups } from "./groups"
import { jobs } from "./jobs"
import { life } from "./life"
import { live } from "./live"
import { members } from "./members"
import { messages } from "./messages"
import { offsets } from "./offsets"
import { overview } from "./overview"
import { purge } from "./purge"
import { resend } from "./resend"
import { roles } from "./roles"
import { run } from "./run"
import { sample } from "./sample"
import { scheduled } from "./scheduled"
import { searches } from "./searches"
import { server } from "./server"
import { shell } from "./shell"
import { topics } from "./topics"
import { wall } from "./wall"

export const zh: Shape<typeof en> = {
  ...alerts,
  ...apiReference,
  ...brokers,
  ...bulkTopics,
  ...clusters,
  ...common,
  ...compare,
  ...deadLetters,
  ...definitions,
  ...find,
  ...groupBulk,
  ...groupOffsets,
  ...groupClone,
  ...groupFigures,
  ...groupImpact,
  ...groups,
  ...jobs,
  ...life,
  ...live,
  ...members,
  ...messages,
  ...offsets,
  ...overview,
  ...purge,
  ...resend,
  ...roles,
  ...run,
  ...sample,
  ...scheduled,
  ...searches,
  ...server,
  ...shell,
  ...topics,
  ...wall,
}
