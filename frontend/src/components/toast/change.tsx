import { Button, Stack } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { IconCircleDashed } from "@tabler/icons-react"
import i18next from "i18next"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { BrokerOutcome } from "@/lib/api-types"
import { Outcomes } from "./outcomes"
import { showToast } from "./show"
import { toastDone, toastFailed } from "./toast"

/** What is answered to a change of every broker; a deletion that all of them did has no answer. */
type Changed = { brokers: BrokerOutcome[] } | undefined

interface Change {
  done: string
  failed: string
  /** Sends the same request once more. */
  again: () => Promise<Changed>
}

/** How a change ended: done, or who took it and who did not, with the offer to catch up. */
export function toastChange(answer: Changed, change: Change): void {
  const brokers = answer?.brokers ?? []
  if (brokers.every((outcome) => outcome.done)) {
    toastDone(change.done)
    return
  }
  const id = `partly:${change.done}`
  showToast({
    id,
    title: i18next.t("partly.title", { what: change.done }),
    message: <PartlyDone brokers={brokers} change={change} onTold={() => notifications.hide(id)} />,
    icon: <IconCircleDashed size={17} stroke={1.6} color="var(--warn)" />,
    autoClose: false,
  })
}

function PartlyDone({ brokers, change, onTold }: { brokers: BrokerOutcome[]; change: Change; onTold: () => void }) {
  const { t } = useTranslation()
  const [outcomes, setOutcomes] = useState(brokers)
  const [isBusy, setBusy] = useState(false)
  const settle = (answer: Changed) => {
    const now = answer?.brokers ?? []
    if (now.some((outcome) => !outcome.done)) setOutcomes(now)
    else {
      onTold()
      toastDone(change.done)
    }
  }
  const again = () => {
    setBusy(true)
    void change
      .again()
      .then(settle, (error: unknown) => toastFailed(change.failed, error))
      .finally(() => setBusy(false))
  }
  return (
    <Stack gap={8} align="flex-start">
      <Outcomes brokers={outcomes} />
      <Button size="xs" loading={isBusy} onClick={again}>
        {t("partly.again")}
      </Button>
    </Stack>
  )
}
