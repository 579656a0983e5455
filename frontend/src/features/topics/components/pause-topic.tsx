import { SegmentedControl } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import { usePauseTopic } from "../api/pause-topic"
import { useResumeTopic } from "../api/resume-topic"

interface PauseTopicProps {
  cluster: string
  topic: string
  onClose: () => void
}

const STOPS = ["delivery", "sends", "both"] as const
type Stop = (typeof STOPS)[number]

/** Asks what is to stop, and says what goes on. */
export function PauseTopic({ cluster, topic, onClose }: PauseTopicProps) {
  const { t } = useTranslation()
  const [stop, setStop] = useState<Stop>("delivery")
  const pause = usePauseTopic(cluster, topic)
  const words = { topic }
  const confirm = () =>
    pause.mutate(stop, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("bulkTopics.pausedDone", words), failed: t("bulkTopics.notPaused", words), again: () => pause.mutateAsync(stop) })
        onClose()
      },
      onError: (error) => toastFailed(t("bulkTopics.notPaused", words), error),
    })
  return (
    <ConfirmDanger isOpen onClose={onClose} title={t("bulkTopics.pauseTitle", words)} action={t("bulkTopics.pauseNamed", words)} isBusy={pause.isPending} onConfirm={confirm}>
      <SegmentedControl
        aria-label={t("bulkTopics.stop")}
        value={stop}
        onChange={(next) => setStop(next as Stop)}
        data={STOPS.map((value) => ({ value, label: t(`bulkTopics.stops.${value}`) }))}
      />
      <p>{t(`bulkTopics.stopWords.${stop}`)}</p>
      <p>{t("bulkTopics.pauseUndo")}</p>
    </ConfirmDanger>
  )
}

/** Allows everything again; nothing is lost by it, so nothing is asked. */
export function useResume(cluster: string, topic: string): () => void {
  const { t } = useTranslation()
  const resume = useResumeTopic(cluster, topic)
  const words = { topic }
  return () =>
    resume.mutate(undefined, {
      onSuccess: (answer) => toastChange(answer, { done: t("bulkTopics.resumedDone", words), failed: t("bulkTopics.notResumed", words), again: () => resume.mutateAsync() }),
      onError: (error) => toastFailed(t("bulkTopics.notResumed", words), error),
    })
}
