import { Button, Group, SegmentedControl } from "@mantine/core"
import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Callout } from "@/components/layout/panel"
import { TitleBlock } from "@/components/layout/title-block"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useUrlState } from "@/hooks/use-url-state"
import type { TopicAnalysis } from "@/lib/api-types"
import { bytes, count, percent } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { useTopicAnalysis } from "../api/analyze-topic"

const SAMPLES = ["100", "1000", "5000"] as const

/** What the newest messages are like; it says that it is a sample, and of how many. */
export function TopicSample({ cluster, topic }: { cluster: string; topic: string }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const chosen = SAMPLES.find((each) => each === state.sample) ?? "1000"
  const analysis = useTopicAnalysis(cluster, topic, Number(chosen))
  return (
    <>
      <Group gap={8}>
        <SegmentedControl
          aria-label={t("sample.size")}
          value={chosen}
          onChange={(next) => change({ sample: next === "1000" ? undefined : next })}
          data={SAMPLES.map((value) => ({ value, label: t("sample.newest", { n: count(Number(value)) }) }))}
        />
        <Button loading={analysis.isFetching} onClick={() => void analysis.refetch()}>
          {t("sample.again")}
        </Button>
      </Group>
      <QueryPanel
        query={analysis}
        title={t("sample.title")}
        note={analysis.data && noteOf(t, analysis.data)}
        what={t("sample.failed")}
        isEmpty={({ sampled, missing }) => sampled === 0 && missing.length === 0}
        empty={<Empty title={t("sample.none")} next={t("sample.noneNext")} />}
      >
        {(found) => <Found found={found} />}
      </QueryPanel>
    </>
  )
}

function noteOf(t: TFunction, { sampled, complete }: TopicAnalysis): string {
  const words = { count: sampled, n: count(sampled) }
  return complete ? t("sample.all", words) : t("sample.some", words)
}

function Found({ found }: { found: TopicAnalysis }) {
  const { t } = useTranslation()
  const { sizes, keys, tags, missing } = found
  const ofAll = (n: number) => t("sample.ofAll", { n: count(n), all: count(found.sampled) })
  return (
    <>
      {missing.map(({ broker, reason }) => (
        <Callout key={broker}>{t("sample.without", { broker, reason: reasonIn(t, reason) })}</Callout>
      ))}
      <TitleBlock
        inside
        figures={[
          ...(sizes === null
            ? []
            : [
                { label: t("sample.median"), value: bytes(sizes.p50), fact: t("sample.mean", { size: bytes(Math.round(sizes.mean)) }) },
                { label: "p90", value: bytes(sizes.p90), fact: t("sample.smallest", { size: bytes(sizes.smallest) }) },
                { label: "p99", value: bytes(sizes.p99), fact: t("sample.largest", { size: bytes(sizes.largest) }) },
              ]),
          { label: t("sample.keys"), value: count(keys.distinct), fact: t("sample.haveKey", { of: ofAll(keys.messages) }) },
          { label: t("sample.tags"), value: count(tags.distinct), fact: t("sample.haveTag", { of: ofAll(tags.messages) }) },
          { label: t("sample.retried"), value: count(found.retried), fact: t("sample.retriedWords") },
          { label: t("sample.damaged"), value: count(found.damaged), fact: t("sample.damagedWords"), tone: found.damaged > 0 ? "crit" : undefined },
        ]}
      />
      <Names label={t("sample.frequentTags")} rows={tags.most} sampled={found.sampled} />
      <Names label={t("sample.repeatedKeys")} rows={keys.repeated} sampled={found.sampled} />
    </>
  )
}

type Counted = TopicAnalysis["tags"]["most"][number]
const column = columnsFor<Counted>()

function Names({ label, rows, sampled }: { label: string; rows: Counted[]; sampled: number }) {
  const { t } = useTranslation()
  if (rows.length === 0) return null
  const columns = [
    column("name", label, { isName: true }, ({ name }) => name),
    column("messages", t("topics.messages"), { align: "end", width: "20%" }, ({ messages }) => count(messages)),
    column("share", t("sample.share"), { align: "end", isSecondary: true, width: "20%" }, ({ messages }) => percent(messages / sampled)),
  ]
  return <DataTable natural label={label} columns={columns} rows={rows} rowId={({ name }) => name} />
}
