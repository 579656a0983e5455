import { SegmentedControl, Textarea, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Field } from "@/components/forms/field"
import { Callout } from "@/components/layout/panel"
import { toastDone, toastFailed, toastUnknown } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { WholeMessage } from "@/lib/api-types"
import { queueAndOffset } from "@/lib/format"
import { asProblem, refusedFields } from "@/lib/problem"
import { useTargetGroups } from "../api/get-target-groups"
import { useResendMessage } from "../api/resend-message"
import { draftOf, inputOf, originOf } from "../resend-draft"

const MARKED = ["target_topic", "keys", "keys.0", "tag", "body.data"]
const ENCODINGS = ["json", "text", "base64"] as const

interface ResendMessageProps {
  cluster: string
  message: WholeMessage
  onClose: () => void
}

/** Sends a copy of a message, as it is or changed; what is not changed is not part of the request. */
export function ResendMessage({ cluster, message, onClose }: ResendMessageProps) {
  const { t } = useTranslation()
  const [draft, setDraft] = useState(() => draftOf(message))
  const resend = useResendMessage(cluster, message.message_id)
  const input = inputOf(message, draft)
  const origin = originOf(message)
  // While a name is typed it is that of many topics that do not exist: only the topic of an untouched field is asked for.
  const groups = useTargetGroups(cluster, origin)
  const refused = refusedFields<object>(resend, input)
  const isAsSent = resend.variables?.target_topic === input.target_topic
  const unknownTopic = resend.error && isAsSent && asProblem(resend.error).code === "TOPIC_NOT_FOUND" ? t("resend.noTopic", { topic: input.target_topic ?? origin }) : undefined
  const set = (patch: Partial<typeof draft>) => setDraft({ ...draft, ...patch })
  const send = () =>
    resend.mutate(input, {
      onSuccess: ({ topic, queue_id, offset }) => {
        toastDone(t("resend.done", { topic }), t("resend.where", { place: queueAndOffset(queue_id, offset) }))
        onClose()
      },
      onError: (error) => {
        const { status } = asProblem(error)
        if (status === 504 || status === 0) toastUnknown(t("resend.unknown"), t("resend.unknownNext"))
        else toastFailed(t("resend.failed"), error, MARKED)
      },
    })
  return (
    <FormDrawer
      title={t("resend.title")}
      action={t("resend.action")}
      right="produce"
      isReady={draft.body !== ""}
      isBusy={resend.isPending}
      onSubmit={send}
      onClose={onClose}
      request={{ method: "POST", path: paths.messageResend(cluster, message.message_id), body: input }}
    >
      <TextInput
        label={t("resend.target")}
        description={t("resend.targetWords")}
        placeholder={origin}
        value={draft.target}
        error={refused.target_topic ?? unknownTopic}
        onChange={(event) => set({ target: event.currentTarget.value })}
      />
      {input.target_topic === undefined && groups !== undefined && (
        <Callout>{groups.length === 0 ? t("resend.seenByNone", { topic: origin }) : t("resend.seenBy", { topic: origin, groups: groups.join(t("list.comma")) })}</Callout>
      )}
      <TextInput label={t("resend.keys")} value={draft.keys} error={refused.keys ?? refused["keys.0"]} onChange={(event) => set({ keys: event.currentTarget.value })} />
      <TextInput label={t("resend.tag")} value={draft.tag} error={refused.tag} onChange={(event) => set({ tag: event.currentTarget.value })} />
      <Field label={t("resend.body")} error={refused["body.data"]}>
        <SegmentedControl
          aria-label={t("resend.encoding")}
          value={draft.encoding}
          onChange={(encoding) => set({ encoding: ENCODINGS.find((each) => each === encoding) ?? "text" })}
          data={ENCODINGS.map((encoding) => ({ value: encoding, label: t(`resend.encodings.${encoding}`) }))}
        />
        <Textarea
          mt={8}
          autosize
          minRows={6}
          maxRows={18}
          aria-label={t("resend.body")}
          classNames={{ input: "mono" }}
          value={draft.body}
          onChange={(event) => set({ body: event.currentTarget.value })}
        />
      </Field>
    </FormDrawer>
  )
}
