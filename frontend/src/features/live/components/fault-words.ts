import type { TFunction } from "i18next"
import type { ConditionFault } from "../conditions"

/** What is wrong with a condition, from which character on. */
export const faultWords = (t: TFunction, { kind, at, what }: ConditionFault): string =>
  t(`tail.faults.${kind}`, { n: at + 1, what: what === "" ? t("tail.faults.end") : what })
