import { Checkbox, Group, MultiSelect } from "@mantine/core"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { NeedsRight } from "@/components/forms/lock"
import { useRefused } from "@/components/wizard/refusals"
import { useAlertChannels } from "@/hooks/use-alert-channels"
import { useMay } from "@/hooks/use-rights"
import { useUrlState } from "@/hooks/use-url-state"
import type { AlertChannel, JobRequest } from "@/lib/api-types"
import { ENDS, endsIn } from "../request"

type Channels = ReturnType<typeof useAlertChannels>

/** The name of a channel; one that is gone has only its id. */
function useChannelWords({ data, error }: Channels) {
  const { t } = useTranslation()
  const wordsOf = ({ name, enabled }: AlertChannel) => (enabled ? name : t("notifying.off", { name }))
  return (id: string): string => {
    const channel = data?.find((each) => each.id === id)
    if (channel) return wordsOf(channel)
    return data && !error ? t("notifying.gone", { id }) : id
  }
}

/** Which alert channels are told of the end of the job, and of which ends. */
export function NotifyFields() {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const refused = useRefused()
  const may = useMay("manage")
  const chosen = state.notify?.split(",") ?? []
  const channels = useAlertChannels({ isNeeded: may || chosen.length > 0 })
  const words = useChannelWords(channels)
  const ends = endsIn(state)
  const known = channels.data?.map(({ id }) => id) ?? []
  const offered = [...known, ...chosen.filter((id) => !known.includes(id))]
  return (
    <>
      <NeedsRight right="manage">
        <MultiSelect
          label={t("notifying.label")}
          description={channels.error ? t("notifying.failed") : t(known.length === 0 && channels.isSuccess ? "notifying.none" : "notifying.words")}
          searchable
          data={offered.map((value) => ({ value, label: words(value) }))}
          value={chosen}
          error={refused("notify.channels")}
          onChange={(ids) => change(ids.length > 0 ? { notify: ids.join(",") } : { notify: undefined, ends: undefined })}
          maw={520}
        />
      </NeedsRight>
      {chosen.length > 0 && (
        <Field label={t("notifying.ends")} description={t("notifying.endsWords")} error={refused("notify.on")}>
          <Group gap={16} mt={6}>
            {ENDS.map((end) => (
              <Checkbox
                key={end}
                label={t(`jobStates.${end}`)}
                checked={ends.includes(end)}
                disabled={!may || (ends.length === 1 && ends.includes(end))}
                onChange={(event) => change({ ends: ENDS.filter((each) => (each === end ? event.currentTarget.checked : ends.includes(each))).join(",") })}
              />
            ))}
          </Group>
        </Field>
      )}
    </>
  )
}

/** The same in words; nothing where nobody is told. */
export function useNotifyFacts({ notify }: Partial<JobRequest>): [string, ReactNode][] {
  const { t } = useTranslation()
  const words = useChannelWords(useAlertChannels({ isNeeded: notify !== undefined }))
  if (!notify) return []
  const ends = ENDS.filter((end) => notify.on.includes(end)).map((end) => t(`jobStates.${end}`))
  return [[t("notifying.label"), `${notify.channels.map(words).join(t("list.comma"))} (${ends.join(t("list.comma"))})`]]
}
