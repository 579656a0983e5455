import type { first as english } from "../en/first"
import type { Shape } from "../shape"
import { abilities } from "./abilities"
import { access } from "./access"
import { alerts } from "./alerts"
import { audit } from "./audit"
import { common } from "./common"
import { groups } from "./groups"
import { jobs } from "./jobs"
import { overview } from "./overview"
import { server } from "./server"
import { shell } from "./shell"

/** What the sign-in page, the shell and the overview say: a browser loads it before it shows anything. */
export const first: Shape<typeof english> = {
  ...abilities,
  ...access,
  ...alerts,
  ...audit,
  ...common,
  ...groups,
  ...jobs,
  ...overview,
  ...server,
  ...shell,
}
