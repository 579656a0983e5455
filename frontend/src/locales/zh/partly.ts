import type { partly as en } from "../en/partly"
import type { Shape } from "../shape"

export const partly: Shape<typeof en> = {
  partly: {
    title: "{{what}}，但部分 Broker 未执行",
    did: "{{broker}}：已执行",
    didNot: "{{broker}}：未执行，{{reason}}",
    unknown: "{{broker}}：是否已执行未知，{{reason}}",
    again: "在其余 Broker 上重试",
  },
}
