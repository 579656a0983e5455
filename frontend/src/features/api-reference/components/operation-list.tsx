import { TextInput } from "@mantine/core"
import { IconSearch } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { useUrlState } from "@/hooks/use-url-state"
import { matching, type Operation } from "../document"
import classes from "./api-reference.module.css"

interface OperationListProps {
  operations: Operation[]
  chosen: string | undefined
}

/** All operations by their part of the product; the words of the search stay in the address. */
export function OperationList({ operations, chosen }: OperationListProps) {
  const { t } = useTranslation()
  const [{ q = "" }, change] = useUrlState()
  const found = matching(operations, q)
  const tags = [...new Set(found.map(({ tag }) => tag))]
  return (
    <Panel title={t("apiReference.operations")} note={t("apiReference.found", { n: found.length, of: operations.length })}>
      <nav className={classes.list} aria-label={t("apiReference.operations")}>
        <TextInput
          className={classes.search}
          aria-label={t("apiReference.search")}
          placeholder={t("apiReference.search")}
          leftSection={<IconSearch size={14} stroke={1.6} />}
          value={q}
          onChange={(event) => change({ q: event.currentTarget.value })}
        />
        {tags.map((tag) => (
          <section key={tag}>
            <h3>{tag}</h3>
            {found
              .filter((each) => each.tag === tag)
              .map((each) => (
                <Line key={each.id} operation={each} isChosen={each.id === chosen} />
              ))}
          </section>
        ))}
        {found.length === 0 && <p className={classes.begin}>{t("apiReference.nothing", { q })}</p>}
      </nav>
    </Panel>
  )
}

const Line = ({ operation: { id, method, path }, isChosen }: { operation: Operation; isChosen: boolean }) => (
  <Link
    to="."
    search={(known: Record<string, string | undefined>) => ({ ...known, operation: id })}
    className={classes.line}
    aria-current={isChosen ? "true" : undefined}
    title={`${method} ${path}`}
  >
    <Method of={method} />
    <span>{id}</span>
  </Link>
)

export const Method = ({ of }: { of: string }) => (
  <span className={classes.method} data-method={of}>
    {of}
  </span>
)
