import { useCallback } from "react"
import { useTranslation } from "react-i18next"
import type { Verb } from "./role-draft"

/** What the scopes of a token allow, in words; a right with several patterns is said once. */
export function useScopeSentence(): (scopes: readonly string[]) => string {
  const { t, i18n } = useTranslation()
  const language = i18n.language
  return useCallback((scopes) => {
    const list = new Intl.ListFormat(language, { type: "conjunction" })
    const names = new Map<string, string[]>()
    for (const scope of scopes) {
      const [verb = "", pattern] = scope.split(":")
      const [topic, group] = (pattern ?? "").split("@")
      const said = group ? t("access.with", { topic: topic === "*" ? t("access.anyTopic") : topic, group }) : topic
      names.set(verb, [...(names.get(verb) ?? []), said ?? ""])
    }
    const acts = [...names].map(([verb, patterns]) => {
      const act = t(`access.verbs.${verb as Verb}`)
      return patterns.includes("") ? act : t("access.on", { act, names: list.format(patterns) })
    })
    return acts.length === 0 ? t("access.mayNothing") : t("access.sentence", { acts: acts.join(t("access.between")) })
  }, [t, language])
}
