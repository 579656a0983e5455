import { ActionIcon, Group, Menu, Tooltip } from "@mantine/core"
import { IconDots, IconPlayerPlay } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { NeedsRight } from "@/components/forms/lock"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { useUrlState } from "@/hooks/use-url-state"
import type { Schedule } from "@/lib/api-types"
import { useDeleteSchedule } from "../api/delete-schedule"
import { useRunNow } from "../api/run-schedule"
import { cleared } from "../scheduled-job"

/** What can be done to a schedule, at its row. */
export function ScheduleActions({ schedule: { id, name, enabled } }: { schedule: Schedule }) {
  const { t } = useTranslation()
  const run = useRunNow(id)
  const remove = useDeleteSchedule(id)
  // In the address, like the drawers: a row is another one when the window becomes as narrow as a phone.
  const [state, change] = useUrlState()
  const { delete: deleted } = state
  const show = (drawer: "edit" | "runs" | "pause" | "delete") =>
    change({ ...(state.new !== undefined && cleared(state)), edit: undefined, runs: undefined, pause: undefined, delete: undefined, [drawer]: id })
  return (
    <Group component="span" display="inline-flex" gap={2} wrap="nowrap">
      <Tooltip label={t("schedules.runNow")}>
        <span>
          <NeedsRight right="jobs">
            <ActionIcon
              size={24}
              aria-label={t("schedules.runNow")}
              loading={run.isPending}
              onClick={() =>
                run.mutate(undefined, {
                  onSuccess: () => toastDone(t("schedules.ran", { name })),
                  onError: (error) => toastFailed(t("schedules.notRun", { name }), error),
                })
              }
            >
              <IconPlayerPlay size={15} stroke={1.6} />
            </ActionIcon>
          </NeedsRight>
        </span>
      </Tooltip>
      <Menu>
        <Menu.Target>
          <ActionIcon size={24} aria-label={t("actions.more")}>
            <IconDots size={15} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => show("runs")}>{t("schedules.runs")}</Menu.Item>
          <NeedsRight right="jobs">
            <Menu.Item onClick={() => show("edit")}>{t("schedules.edit")}</Menu.Item>
          </NeedsRight>
          {enabled && (
            <NeedsRight right="jobs">
              <Menu.Item onClick={() => show("pause")}>{t("schedules.pauseTitle")}</Menu.Item>
            </NeedsRight>
          )}
          <NeedsRight right="jobs">
            <Menu.Item color="var(--crit)" onClick={() => show("delete")}>
              {t("schedules.delete")}
            </Menu.Item>
          </NeedsRight>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDelete
        isOpen={deleted === id}
        onClose={() => change({ delete: undefined })}
        title={t("schedules.deleteTitle", { name })}
        name={name}
        action={t("schedules.delete")}
        isBusy={remove.isPending}
        remove={() => remove.mutateAsync()}
        done={t("schedules.deleted", { name })}
        failed={t("schedules.notDeleted", { name })}
      >
        <p>{t("schedules.deleteWords")}</p>
      </ConfirmDelete>
    </Group>
  )
}
