import { Button } from "@mantine/core"
import { IconArrowBackUp } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useFormat } from "@/hooks/use-format"
import type { OffsetSnapshot } from "@/lib/api-types"
import { useSnapshots } from "../api/get-snapshots"
import classes from "./offsets.module.css"
import { UndoChange } from "./undo-change"

interface SnapshotsPanelProps {
  cluster: string
  group: string
  /** The group is elsewhere now: what was planned before is out of date. */
  onUndone: () => void
}

/** The changes that were made, each with its way back. */
export function SnapshotsPanel({ cluster, group, onUndone }: SnapshotsPanelProps) {
  const { t } = useTranslation()
  return (
    <QueryPanel
      query={useSnapshots(cluster, group)}
      title={t("offsets.changes")}
      what={t("offsets.changesFailed")}
      isEmpty={({ items }) => items.length === 0}
      empty={<Empty small title={t("offsets.noChanges")} next={t("offsets.noChangesNext")} />}
    >
      {({ items }) => (
        <div>
          {items.map((snapshot) => (
            <Snapshot key={snapshot.snapshot_id} cluster={cluster} group={group} snapshot={snapshot} onUndone={onUndone} />
          ))}
        </div>
      )}
    </QueryPanel>
  )
}

interface SnapshotProps extends SnapshotsPanelProps {
  snapshot: OffsetSnapshot
}

function Snapshot({ cluster, group, snapshot, onUndone }: SnapshotProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const [isAsking, setAsking] = useState(false)
  return (
    <div className={classes.snapshot}>
      <div>
        {t("offsets.changeOf", { mode: t(`offsets.modes.${snapshot.mode}`), topic: snapshot.topic })}
        <small>
          {format.when(snapshot.created_at)} · {snapshot.created_by} · {t("groups.queuesOf", { count: snapshot.queues.length })}
        </small>
      </div>
      {snapshot.undone_at !== null ? (
        <span className="micro">{t("offsets.undone")}</span>
      ) : (
        <NeedsRight right="offsets">
          <Button size="xs" leftSection={<IconArrowBackUp size={14} stroke={1.6} />} onClick={() => setAsking(true)}>
            {t("offsets.undo")}
          </Button>
        </NeedsRight>
      )}
      {isAsking && <UndoChange cluster={cluster} group={group} snapshot={snapshot} onClose={() => setAsking(false)} onUndone={onUndone} />}
    </div>
  )
}
