import { Button, Group } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { CurlButton } from "@/components/code/curl-button"
import { Fillable } from "@/components/forms/lock"
import { Columns, Page } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import type { OffsetPreview } from "@/lib/api-types"
import { usePlan } from "../use-plan"
import { wishOf } from "../wish"
import { ApplyPanel } from "./apply-panel"
import { PlanTable } from "./plan-table"
import { SnapshotsPanel } from "./snapshots-panel"
import { WishFields } from "./wish-fields"

interface OffsetsPageProps {
  cluster: string
  group: string
  /** The topics that the group consumes; a single one is chosen. */
  own?: readonly string[]
  topics: string[]
  groups: string[]
}

/** Moves a group: what and where to, what that does queue by queue, then the button; and the way back. */
export function OffsetsPage({ cluster, group, own = [], topics, groups }: OffsetsPageProps) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const topic = state.topic ?? (own.length === 1 ? own[0] : undefined)
  const wish = wishOf({ ...state, topic })
  const { asked, whole, left, plan, error, isPending, ask, leave, forget } = usePlan(cluster, group, wish)
  return (
    <Page title={t("offsets.title", { group })} facts={t("offsets.facts")}>
      <Columns
        sideWidth={378}
        main={
          <>
            <Fillable right="offsets">
              <Panel title={t("offsets.what")}>
                <WishFields topic={topic} topics={topics} groups={groups.filter((name) => name !== group)} />
                <Group gap={8} p={14} pt={0}>
                  <Button variant={plan ? "default" : "filled"} disabled={!wish} loading={isPending} onClick={ask}>
                    {t("offsets.preview")}
                  </Button>
                  {!wish && <span className="micro">{t("offsets.incomplete")}</span>}
                </Group>
              </Panel>
            </Fillable>
            {error && (
              <Panel>
                <Failed what={t("offsets.previewFailed")} error={error} />
              </Panel>
            )}
            {whole && <PlanTable plan={whole} left={left} onLeave={leave} />}
            {asked && <Asked path={paths.offsetsPreview(cluster, group)} asked={asked} />}
          </>
        }
        side={
          <>
            {plan && <ApplyPanel key={plan.plan_id} cluster={cluster} group={group} plan={plan} onApplied={forget} />}
            <SnapshotsPanel cluster={cluster} group={group} onUndone={forget} />
          </>
        }
      />
    </Page>
  )
}

function Asked({ path, asked }: { path: string; asked: OffsetPreview }) {
  const { t } = useTranslation()
  return (
    <Panel title={t("request.title")} actions={<CurlButton size="xs" label="curl" request={{ method: "POST", path, body: asked }} />}>
      <CodeBlock plain wrap language="json" text={`POST ${path}\n${JSON.stringify(asked, null, 2)}`} />
    </Panel>
  )
}
