import { brokers } from "./brokers"
import { common } from "./common"
import { groups } from "./groups"
import { jobs } from "./jobs"
import { members } from "./members"
import { messages } from "./messages"
import { offsets } from "./offsets"
import { overview } from "./overview"
import { run } from "./run"
import { server } from "./server"
import { shell } from "./shell"
import { topics } from "./topics"

export const en = { ...brokers, ...common, ...groups, ...members, ...jobs, ...messages, ...offsets, ...overview, ...run, ...server, ...shell, ...topics }
