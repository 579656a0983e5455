import { Button, Group, Popover } from "@mantine/core"
import { IconGauge } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { NeedsRight } from "@/components/forms/lock"
import { toastDone, toastFailed } from "@/components/toast/toast"
import type { Job } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useChangeLimits } from "../api/change-limits"
import { MOST_PER_SECOND } from "../request"

const RANGE = { min: 1, max: MOST_PER_SECOND }

/** The limit in force as a button that changes it; a job that runs hears of it within a second. */
export function RateLimit({ job, limit }: { job: Job; limit: number | null }) {
  const { t } = useTranslation()
  const change = useChangeLimits(job.id)
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState<number | undefined>(limit ?? undefined)
  // A redrive never runs without a limit.
  const canBeEmpty = job.type !== "redrive"
  const isReady = typed === undefined ? canBeEmpty : isWithin(typed, RANGE)
  const words = (value: number | null | undefined) => (value ? t("jobs.limit", { n: count(value) }) : t("jobs.noLimit"))
  const apply = () =>
    change.mutate(
      { messages_per_second: typed ?? null },
      {
        onSuccess: () => {
          setOpen(false)
          toastDone(t("jobs.limitChanged", { limit: words(typed) }))
        },
        onError: (error) => toastFailed(t("jobs.limitNotChanged"), error),
      },
    )
  const open = () => {
    setTyped(limit ?? undefined)
    setOpen(!isOpen)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" withinPortal={false} withRoles={false}>
      <Popover.Target>
        <span>
          <NeedsRight right="jobs">
            <Button size="xs" leftSection={<IconGauge size={14} stroke={1.6} />} aria-expanded={isOpen} onClick={open}>
              {words(limit)}
            </Button>
          </NeedsRight>
        </span>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (isReady) apply()
          }}
        >
          <Group gap={8} align="flex-end">
            <NumberField
              label={t("jobs.perSecond")}
              description={canBeEmpty ? t("jobs.perSecondWords") : t("jobs.perSecondNeeded")}
              value={typed}
              {...RANGE}
              isOptional={canBeEmpty}
              onChange={setTyped}
            />
            <Button type="submit" variant="filled" disabled={!isReady} loading={change.isPending}>
              {t("jobs.changeLimit")}
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
