import { Button } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Empty } from "./empty"

interface NoneFitsProps {
  title: string
  /** What was asked for, by the names of the fields. */
  wanted: readonly (readonly [name: string, value: string | undefined])[]
  onClear: () => void
}

/** Nothing fits a filter: by what it was, and the way out of it. */
export function NoneFits({ title, wanted, onClear }: NoneFitsProps) {
  const { t } = useTranslation()
  const words = wanted.filter(([, value]) => value !== undefined).map(([name, value]) => `${name} ${value}`)
  return <Empty small title={title} next={words.join(t("list.comma"))} actions={<Button onClick={onClear}>{t("actions.clearFilter")}</Button>} />
}
