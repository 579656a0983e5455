import { Button } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Chip } from "@/components/badges/badge"
import { MoreRows } from "@/components/data-table/more-rows"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import type { Job } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useOutcomes } from "../api/get-outcomes"
import classes from "./dead-letters.module.css"
import { OutcomeTable } from "./outcome-table"

const WORDS = ["redriven", "failed", "skipped", "unknown"] as const
const FILE = "outcomes.csv"

interface OutcomesProps {
  job: Job
  title: string
  note?: ReactNode
  children?: ReactNode
}

/** What a redrive did, message by message, the newest first. */
export function Outcomes({ job, title, note, children }: OutcomesProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const word = WORDS.find((known) => known === state.outcome)
  const query = useOutcomes(job.cluster, job, word)
  const first = query.data?.pages[0]
  const rows = query.data?.pages.flatMap(({ items }) => items)
  const all = first && Object.values(first.counts).reduce((sum, each) => sum + each, 0)
  const hasFile = job.artefacts.some(({ name }) => name === FILE)
  return (
    <Panel
      title={title}
      note={note}
      actions={
        <div className={classes.chips}>
          {children}
          <Chip isOn={word === undefined} count={all === undefined ? undefined : count(all)} onClick={() => change({ outcome: undefined })}>
            {t("deadLetters.all")}
          </Chip>
          {WORDS.filter((each) => each !== "unknown" || first?.counts[each] || word === each).map((each) => (
            <Chip key={each} isOn={word === each} count={first && count(first.counts[each] ?? 0)} onClick={() => change({ outcome: each })}>
              {t(`deadLetters.outcomes.${each}`)}
            </Chip>
          ))}
          {hasFile && (
            <Button size="xs" component="a" href={paths.jobArtefact(job.id, FILE)} download={FILE} leftSection={<IconDownload size={14} stroke={1.6} />}>
              {t("deadLetters.csv")}
            </Button>
          )}
        </div>
      }
    >
      <QueryBody query={{ ...query, data: rows, refetch: query.refetch as never }} what={t("deadLetters.outcomesFailed")} isEmpty={(items) => items.length === 0} empty={<Empty small title={t("deadLetters.noOutcome")} />}>
        {(items) => <OutcomeTable title={title} rows={items} />}
      </QueryBody>
      <MoreRows query={query} />
    </Panel>
  )
}
