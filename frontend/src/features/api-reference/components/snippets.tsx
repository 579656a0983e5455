import { SegmentedControl } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { useUrlState } from "@/hooks/use-url-state"
import type { Call } from "../request"
import { LANGUAGES, snippetOf } from "../snippets"
import classes from "./api-reference.module.css"

const NAMES = { curl: "curl", python: "Python", javascript: "JavaScript", java: "Java" }

/** The call as code, in the language that the address names. */
export function Snippets({ call }: { call: Call }) {
  const { t } = useTranslation()
  const [{ code }, change] = useUrlState()
  const language = LANGUAGES.find((each) => each === code) ?? "curl"
  return (
    <section className={classes.snippets}>
      <SegmentedControl
        aria-label={t("apiReference.language")}
        value={language}
        onChange={(value) => change({ code: value === "curl" ? undefined : value })}
        data={LANGUAGES.map((each) => ({ value: each, label: NAMES[each] }))}
      />
      <CodeBlock wrap language={language === "curl" ? "curl" : "plain"} text={snippetOf(language, call)} label={t("apiReference.code")} />
    </section>
  )
}
