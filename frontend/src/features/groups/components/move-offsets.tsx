import { Button, Group, Modal, SegmentedControl, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { NumberField } from "@/components/forms/number-field"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import { Failed } from "@/components/states/failed"
import { toastFailed } from "@/components/toast/toast"
import type { GroupMove, GroupPlan, GroupsWish } from "@/lib/api-types"
import { count } from "@/lib/format"
import { isInstant } from "@/lib/time"
import { useApplyMoves, usePreviewMoves, useUndoMoves } from "../api/move-groups"
import { Moves, Plans } from "./moved-groups"

const MODES = ["time", "earliest", "latest", "shift"] as const
type Mode = (typeof MODES)[number]

interface MoveOffsetsProps {
  cluster: string
  groups: string[]
  onClose: () => void
}

/** Moves many groups in all their topics: where to, what that means for each, what became of each, and the way back. */
export function MoveOffsets({ cluster, groups, onClose }: MoveOffsetsProps) {
  const { t } = useTranslation()
  const apply = useApplyMoves(cluster)
  return (
    <Modal closeButtonProps={{ "aria-label": t("actions.close") }} opened onClose={onClose} size="xl" title={t("groupOffsets.title", { count: groups.length, n: count(groups.length) })}>
      {apply.data ? (
        <Outcome cluster={cluster} items={apply.data.items} onClose={onClose} />
      ) : (
        <Question
          cluster={cluster}
          groups={groups}
          isBusy={apply.isPending}
          onConfirm={(plans) => apply.mutate(plans, { onError: (error) => toastFailed(t("groupBulk.notDone"), error) })}
          onClose={onClose}
        />
      )}
    </Modal>
  )
}

interface QuestionProps extends MoveOffsetsProps {
  isBusy: boolean
  onConfirm: (plans: GroupPlan[]) => void
}

function Question({ cluster, groups, isBusy, onConfirm, onClose }: QuestionProps) {
  const { t } = useTranslation()
  const preview = usePreviewMoves(cluster)
  const [mode, setMode] = useState<Mode>("time")
  const [at, setAt] = useState<string>()
  const [shift, setShift] = useState<number>()
  const wish = wishOf(groups, mode, at, shift)
  const plans = preview.data?.items.filter(({ outcome }) => outcome === "planned") ?? []
  // A plan is for what was asked then.
  const change = <T,>(set: (value: T) => void) => (value: T) => {
    preview.reset()
    set(value)
  }
  return (
    <Stack gap={12}>
      <Field label={t("offsets.whereTo")}>
        <SegmentedControl
          aria-label={t("offsets.whereTo")}
          value={mode}
          onChange={change(setMode)}
          data={MODES.map((value) => ({ value, label: t(`offsets.modes.${value}`) }))}
        />
      </Field>
      {mode === "time" && <WallClockInput label={t("offsets.time")} value={at} onChange={change(setAt)} />}
      {mode === "shift" && (
        <NumberField isOptional label={t("offsets.shift")} min={-Number.MAX_SAFE_INTEGER} value={shift} onChange={change(setShift)} />
      )}
      {preview.error && <Failed what={t("offsets.previewFailed")} error={preview.error} retry={() => wish && preview.mutate(wish)} />}
      {preview.data && <Plans items={preview.data.items} />}
      <Group gap={8} justify="flex-end">
        <Button variant="subtle" onClick={onClose}>
          {t("actions.cancel")}
        </Button>
        {preview.data ? (
          <Button variant="filled" disabled={plans.length === 0} loading={isBusy} onClick={() => onConfirm(plans)}>
            {t("groupOffsets.apply", { count: plans.length, n: count(plans.length) })}
          </Button>
        ) : (
          <Button variant="filled" disabled={!wish} loading={preview.isPending} onClick={() => wish && preview.mutate(wish)}>
            {t("offsets.preview")}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

interface OutcomeProps {
  cluster: string
  items: GroupMove[]
  onClose: () => void
}

function Outcome({ cluster, items, onClose }: OutcomeProps) {
  const { t } = useTranslation()
  const undo = useUndoMoves(cluster)
  const moved = items.filter(({ snapshot_id }) => snapshot_id !== null)
  const undoAll = () => undo.mutate(moved, { onError: (error) => toastFailed(t("offsets.notUndone"), error) })
  return (
    <Stack gap={12}>
      <Moves items={undo.data?.items ?? items} isUndo={undo.data !== undefined} />
      <Group gap={8} justify="flex-end">
        {!undo.data && moved.length > 0 && (
          <Button loading={undo.isPending} onClick={undoAll}>
            {t("groupOffsets.undoAll")}
          </Button>
        )}
        <Button variant="filled" onClick={onClose}>
          {t("actions.close")}
        </Button>
      </Group>
    </Stack>
  )
}

/** The request for a preview, or null while something is missing. */
function wishOf(groups: string[], mode: Mode, at: string | undefined, shift: number | undefined): GroupsWish | null {
  if (mode === "time") return at && isInstant(at) ? { groups, mode, time: at } : null
  if (mode === "shift") return shift && Number.isSafeInteger(shift) ? { groups, mode, shift } : null
  return { groups, mode }
}
