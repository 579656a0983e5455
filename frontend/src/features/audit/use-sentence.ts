import { useTranslation } from "react-i18next"
import type { AuditEntry } from "@/lib/api-types"

const KNOWN = ["create", "update", "delete", "cancel", "retry", "run", "run_now", "password", "login", "logout"] as const

const NOUNS = ["topic", "group", "job", "schedule", "token", "user", "cluster"] as const

/** "admin created topic orders": the record as a sentence; what has no word of its own is said as it is recorded. */
export function useSentence() {
  const { t } = useTranslation()
  return ({ actor, action, resource, result }: AuditEntry): string => {
    const verb = KNOWN.find((name) => action.endsWith(`.${name}`))
    const noun = NOUNS.find((name) => action.startsWith(`${name}.`))
    const name = resource.split("/").at(-1) ?? resource
    const what = noun ? `${t(`audit.nouns.${noun}`)} ${name}` : t("audit.nameOnly", { name })
    const sentence = verb ? t(`audit.verbs.${verb}`, { actor, what }) : t("audit.did", { actor, action, resource })
    return result === "ok" ? sentence : t("audit.attempt", { sentence, result })
  }
}
