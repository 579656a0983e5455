import { common } from "./common"
import { groups } from "./groups"
import { jobs } from "./jobs"
import { messages } from "./messages"
import { offsets } from "./offsets"
import { overview } from "./overview"
import { run } from "./run"
import { server } from "./server"
import { shell } from "./shell"
import { topics } from "./topics"

export const en = { ...common, ...shell, ...overview, ...topics, ...groups, ...messages, ...offsets, ...jobs, ...run, ...server }
