import { first } from "./first"
import { rest } from "./rest"

/** All words, as tests want them. */
export const en = { ...first, ...rest }
