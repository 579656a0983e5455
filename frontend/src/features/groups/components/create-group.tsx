import { Switch, TextInput } from "@mantine/core"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useNameRule } from "@/hooks/use-naming"
import { refusedFields } from "@/lib/problem"
import type { GroupInput } from "@/lib/api-types"
import { useCreateGroup } from "../api/create-group"

/** How often a message may be tried again, as the API takes it. */
export const RETRIES = { min: 0, max: 1000 }

const FIRST: GroupInput = { name: "", retry_max_times: 16, consume_enabled: true }

export function CreateGroup({ cluster, onClose }: { cluster: string; onClose: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const create = useCreateGroup(cluster)
  const [input, setInput] = useState(FIRST)
  const rule = useNameRule("group")
  const isNamed = rule.fits(input.name)
  const refused = refusedFields(create, input)
  const submit = () =>
    create.mutate(input, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("groups.created", { group: input.name }), failed: t("groups.notCreated", { group: input.name }), again: () => create.mutateAsync(input) })
        void navigate({ to: "/groups/$group", params: { group: input.name } })
      },
      onError: (error) => toastFailed(t("groups.notCreated", { group: input.name }), error, ["name", "retry_max_times"]),
    })
  return (
    <FormDrawer
      title={t("groups.create")}
      action={input.name === "" ? t("groups.create") : t("groups.createNamed", { group: input.name })}
      right="manage"
      isReady={isNamed && isWithin(input.retry_max_times, RETRIES)}
      isBusy={create.isPending}
      onSubmit={submit}
      onClose={onClose}
      request={{ method: "POST", path: paths.groups(cluster), body: input }}
    >
      <TextInput
        label={t("groups.name")}
        description={rule.maxLength && t("forms.nameRule", { max: rule.maxLength })}
        value={input.name}
        onChange={(event) => setInput({ ...input, name: event.currentTarget.value })}
        error={refused.name ?? (input.name !== "" && !isNamed ? t("forms.nameWrong", { max: rule.maxLength }) : null)}
        autoFocus
      />
      <NumberField
        label={t("groups.retries")}
        description={t("groups.retriesWords")}
        value={input.retry_max_times}
        error={refused.retry_max_times}
        {...RETRIES}
        onChange={(next = Number.NaN) => setInput({ ...input, retry_max_times: next })}
      />
      <Switch
        label={t("groups.consumeEnabled")}
        checked={input.consume_enabled}
        onChange={(event) => setInput({ ...input, consume_enabled: event.currentTarget.checked })}
      />
    </FormDrawer>
  )
}
