import { Switch, TextInput } from "@mantine/core"
import { useNavigate } from "@tanstack/react-router"
import type { TFunction } from "i18next"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { toastChange } from "@/components/toast/change"
import { toastFailed, toastUnknown } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useNameRule } from "@/hooks/use-naming"
import { useMay } from "@/hooks/use-rights"
import type { GroupCloned } from "@/lib/api-types"
import { refusedFields } from "@/lib/problem"
import { reasonIn } from "@/lib/reasons"
import { useCloneGroup } from "../api/clone-group"

interface CloneGroupProps {
  cluster: string
  source: string
  onClose: () => void
}

/** A new group with the settings of another one, which begins where that one is. */
export function CloneGroup({ cluster, source, onClose }: CloneGroupProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const clone = useCloneGroup(cluster, source)
  const mayMove = useMay("offsets")
  const [input, setInput] = useState({ name: "", offsets: mayMove })
  const rule = useNameRule("group")
  const isNamed = rule.fits(input.name)
  const refused = refusedFields(clone, input)
  const words = { group: input.name, source }
  const submit = () =>
    clone.mutate(input, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("groupClone.done", words), failed: t("groupClone.notDone", words), again: () => clone.mutateAsync(input) })
        const left = notCopied(t, answer)
        if (left !== "") toastUnknown(t("groupClone.notAllOffsets", words), left)
        void navigate({ to: "/groups/$group", params: { group: input.name } })
      },
      onError: (error) => toastFailed(t("groupClone.notDone", words), error, ["name"]),
    })
  return (
    <FormDrawer
      title={t("groupClone.title", words)}
      action={input.name === "" ? t("groupClone.open") : t("groupClone.action", words)}
      right="manage"
      isReady={isNamed}
      isBusy={clone.isPending}
      onSubmit={submit}
      onClose={onClose}
      request={{ method: "POST", path: paths.groupClone(cluster, source), body: input }}
    >
      <p>{t("groupClone.words", words)}</p>
      <TextInput
        label={t("groups.name")}
        description={rule.maxLength && t("forms.nameRule", { max: rule.maxLength })}
        value={input.name}
        onChange={(event) => setInput({ ...input, name: event.currentTarget.value })}
        error={refused.name ?? (input.name !== "" && !isNamed ? t("forms.nameWrong", { max: rule.maxLength }) : null)}
        autoFocus
      />
      <Switch
        label={t("groupClone.offsets", words)}
        description={mayMove ? t("groupClone.offsetsWords") : t("rights.missing", { right: t("rights.offsets") })}
        disabled={!mayMove}
        checked={input.offsets}
        onChange={(event) => setInput({ ...input, offsets: event.currentTarget.checked })}
      />
    </FormDrawer>
  )
}

/** Which positions the new group lacks, in words; nothing if it has all. */
function notCopied(t: TFunction, { offsets, unknown }: GroupCloned): string {
  const stuck = offsets.filter(({ queues, copied }) => copied < queues)
  return [
    ...stuck.map(({ reason, ...topic }) => t("groupClone.topicStuck", { ...topic, reason: reasonIn(t, reason ?? "") })),
    ...unknown.map(({ broker, reason }) => t("groupClone.brokerSilent", { broker, reason: reasonIn(t, reason) })),
  ].join(" ")
}
