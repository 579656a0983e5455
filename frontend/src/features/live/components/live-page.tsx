import { Button } from "@mantine/core"
import { IconDeviceTv, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useMemo } from "react"
import { useTranslation } from "react-i18next"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { Callout } from "@/components/layout/panel"
import { Page } from "@/components/layout/page"
import { Empty } from "@/components/states/empty"
import { useLanguage } from "@/hooks/use-format"
import { useKeys } from "@/hooks/use-keys"
import { useUrlState } from "@/hooks/use-url-state"
import { count } from "@/lib/format"
import { Problem } from "@/lib/problem"
import { problemIn, reasonIn } from "@/lib/reasons"
import { firstFault } from "../conditions"
import { sqlFaultIn } from "../sql-fault"
import { waitingCount } from "../tail-state"
import { type TailStream, useTailStream } from "../use-tail-stream"
import { requestOf, watchedOf } from "../watched"
import { faultWords } from "./fault-words"
import { FilterBar } from "./filter-bar"
import { RatePanel } from "./rate-panel"
import { TailPanel } from "./tail-panel"
import { TopicChips } from "./topic-chips"
import classes from "./live.module.css"

interface LivePageProps {
  cluster: string
  names: string[]
  /** What else the page shows, under its head. */
  tabs?: ReactNode
  drawerOf: (address: { id: string; topic: string }, onClose: () => void) => ReactNode
}

/** Messages of topics as they are stored; what is watched is in the address. */
export function LivePage({ cluster, names, tabs, drawerOf }: LivePageProps) {
  const { t } = useTranslation()
  const [url, change] = useUrlState()
  const watched = useMemo(() => watchedOf(url), [url])
  const fault = useMemo(() => firstFault(watched.conditions), [watched])
  const stream = useTailStream(fault ? null : requestOf(cluster, watched))
  const sqlFault = sqlFaultIn(t, stream.state.problem)
  const close = () => change({ open: undefined, of: undefined })
  const hasTopics = watched.topics.length > 0
  return (
    <DockedPage drawer={url.open !== undefined && url.of !== undefined && drawerOf({ id: url.open, topic: url.of }, close)}>
      <Page
        fill
        title={t("nav.live")}
        badge={<TopicChips topics={watched.topics} names={names} onChange={(topics) => change({ topics: topics.join(",") || undefined })} />}
        facts={t("tail.facts")}
        actions={
          <>
            {hasTopics && <PauseButton stream={stream} />}
            <Button variant="default" component={Link} to="/live/wallboard" leftSection={<IconDeviceTv size={15} stroke={1.6} />}>
              {t("wall.title")}
            </Button>
          </>
        }
      >
        {tabs}
        <FilterBar watched={watched} counts={stream.state.counts} sqlFault={sqlFault} onChange={change} />
        <Notices stream={stream} fault={fault} isToldAtField={sqlFault !== null} />
        {hasTopics ? (
          <>
            <RatePanel state={stream.state} limit={watched.rate} isSampled={watched.sample !== "1"} />
            <TailPanel
              stream={stream}
              isRefused={fault !== null || stream.state.problem !== null}
              openId={url.open}
              onOpen={({ message_id, topic }) => {
                stream.pause()
                change({ open: message_id, of: topic })
              }}
            />
          </>
        ) : (
          <Empty title={t("tail.noTopic")} next={t("tail.noTopicNext")} />
        )}
      </Page>
    </DockedPage>
  )
}

function PauseButton({ stream }: { stream: TailStream }) {
  const { t } = useTranslation()
  const isPaused = stream.state.pausedAt !== null
  const waiting = waitingCount(stream.state)
  const toggle = isPaused ? stream.proceed : stream.pause
  useKeys({ p: toggle })
  const words = waiting > 0 ? t("tail.proceed_waiting", { n: count(waiting) }) : t("tail.proceed")
  return (
    <Button
      variant={isPaused ? "filled" : "default"}
      leftSection={isPaused ? <IconPlayerPlay size={15} stroke={1.8} /> : <IconPlayerPause size={15} stroke={1.6} />}
      onClick={toggle}
    >
      {isPaused ? words : t("tail.pause")}
    </Button>
  )
}

interface NoticesProps {
  stream: TailStream
  fault: ReturnType<typeof firstFault>
  isToldAtField: boolean
}

function Notices({ stream: { state, isOpen }, fault, isToldAtField }: NoticesProps) {
  const { t } = useTranslation()
  const language = useLanguage()
  const isLost = !isOpen && state.nextId > 1
  return (
    <div className={classes.notices} aria-live="polite">
      {isLost && <Callout>{t("tail.lost")}</Callout>}
      {state.problem && !isToldAtField && (
        <Callout tone="crit">
          <b>{t("tail.refused")}</b> <span>{problemIn(t, language, new Problem(0, state.problem))}</span>
        </Callout>
      )}
      {fault && (
        <Callout tone="crit">
          <b className="mono">{fault.condition}</b> <span>{faultWords(t, fault)}</span>
        </Callout>
      )}
      {Object.entries(state.silent).map(([place, reason]) => (
        <Callout key={place}>{t("tail.silent", { place, reason: reasonIn(t, reason) })}</Callout>
      ))}
    </div>
  )
}
