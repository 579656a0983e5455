import { Button, SegmentedControl } from "@mantine/core"
import { IconArrowDown, IconDownload } from "@tabler/icons-react"
import { useRef } from "react"
import { useTranslation } from "react-i18next"
import { Columns } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import { ReadFromSlaves, slavesOf } from "@/components/states/read-from-slaves"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import { withQuery } from "@/lib/api-client"
import type { DeadLetter, DeadLetterGroup } from "@/lib/api-types"
import { isActive, useRedrives } from "../api/get-redrives"
import { causeQuery } from "../api/cause-query"
import { type Picked, picksOf, textOf, type Picks } from "../picks"
import classes from "./dead-letters.module.css"
import { CauseTree } from "./cause-tree"
import { LastRedrive } from "./last-redrive"
import { LettersPanel } from "./letters-panel"
import { RedrivePanel } from "./redrive-panel"

interface DeadLettersViewProps {
  cluster: string
  groups: DeadLetterGroup[]
  /** Only this group's redrives; those of all groups if it is missing. */
  group?: string
  topics: readonly string[]
  onOpen: (letter: DeadLetter) => void
}

/** Left what died, right the one decision, below what the last decision did. */
export function DeadLettersView({ cluster, groups, group, topics, onOpen }: DeadLettersViewProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const decision = useRef<HTMLDivElement>(null)
  const picks = known(picksOf(state.pick), groups)
  const redrives = useRedrives(cluster, group)
  const view = state.view === "message" ? "message" : "cause"
  const shown = Object.keys(picks)[0] ?? (groups.length === 1 ? groups[0]?.name : undefined)
  const last = redrives.data?.[0]
  const onPicks = (next: Picks) => change({ pick: textOf(next), allow: undefined })
  return (
    <Columns
      sideWidth={372}
      main={
        <>
          <ReadFromSlaves slaves={slavesOf(groups)} />
          <Panel
            title={t("deadLetters.byCause")}
            actions={
              <div className={classes.chips}>
                {shown !== undefined && <ExportButton cluster={cluster} group={shown} picked={picks[shown]} />}
                <SegmentedControl
                  size="xs"
                  aria-label={t("deadLetters.view")}
                  value={view}
                  onChange={(next) => change({ view: next === "cause" ? undefined : next })}
                  data={[
                    { value: "cause", label: t("deadLetters.cause") },
                    { value: "message", label: t("deadLetters.message") },
                  ]}
                />
              </div>
            }
          >
            <CauseTree cluster={cluster} groups={groups} picks={picks} onPicks={onPicks} />
          </Panel>
          {view === "message" &&
            (shown === undefined ? (
              <Panel>
                <Empty small title={t("deadLetters.pickToSee")} />
              </Panel>
            ) : (
              <LettersPanel cluster={cluster} group={shown} picked={picks[shown]} onOpen={onOpen} />
            ))}
          {last ? (
            <LastRedrive job={last} />
          ) : (
            <Panel title={t("deadLetters.lastRedrive")}>
              <QueryBody query={redrives} what={t("deadLetters.redrivesFailed")} isEmpty={(jobs) => jobs.length === 0} empty={<Empty small title={t("deadLetters.noRedrive")} next={t("deadLetters.noRedriveNext")} />}>
                {() => null}
              </QueryBody>
            </Panel>
          )}
          {Object.keys(picks).length > 0 && (
            <div className={classes.toDecision}>
              <Button fullWidth variant="filled" rightSection={<IconArrowDown size={15} stroke={1.8} />} onClick={() => decision.current?.scrollIntoView()}>
                {t("deadLetters.toDecision")}
              </Button>
            </div>
          )}
        </>
      }
      side={
        <div ref={decision} className={classes.decision}>
          <RedrivePanel cluster={cluster} picks={picks} topics={topics} running={redrives.data?.filter(isActive) ?? []} onStarted={() => onPicks({})} />
        </div>
      }
    />
  )
}

interface ExportButtonProps {
  cluster: string
  group: string
  picked: Picked | undefined
}

/** All dead letters of a group as a file, or those of its one picked cause; the server writes it. */
function ExportButton({ cluster, group, picked }: ExportButtonProps) {
  const { t } = useTranslation()
  return (
    <Button size="xs" component="a" href={withQuery(paths.deadLetterExport(cluster, group), causeQuery(picked))} download leftSection={<IconDownload size={14} stroke={1.6} />}>
      {t("deadLetters.export", { group })}
    </Button>
  )
}

/** The picks of groups that are shown: an address may name others. */
const known = (picks: Picks, groups: readonly DeadLetterGroup[]): Picks =>
  Object.fromEntries(Object.entries(picks).filter(([name]) => groups.some((group) => group.name === name)))
