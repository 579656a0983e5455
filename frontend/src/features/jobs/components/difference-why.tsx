import { useTranslation } from "react-i18next"
import { changeOf, differencesIn } from "../differing"
import type { Sample } from "../report"

/** What makes a difference: the field and by how much, the fields, the damage, or on which side it is. */
export function Why({ sample }: { sample: Sample }) {
  const { t } = useTranslation()
  const lines = differencesIn(sample)
  if (lines.length === 0) return <>{sample.damage ?? (sample.fields.join(t("list.comma")) || t(`reconcile.words.${sample.class}`))}</>
  const [line] = lines
  const change = line && lines.length === 1 ? changeOf(line) : null
  return <>{change === null || !line ? lines.map(({ path }) => path).join(t("list.comma")) : `${line.path} ${change}`}</>
}
