import { Checkbox } from "@mantine/core"
import { IconCircleCheck } from "@tabler/icons-react"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Callout, Definitions } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import type { RedriveAsked, RedrivePreview } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { isUnread } from "../redrive"
import classes from "./dead-letters.module.css"

interface DryRunProps {
  asked: readonly [group: string, body: RedriveAsked][]
  /** Of the first groups, as far as they are known. */
  previews: readonly RedrivePreview[]
  isReady: boolean
  rate: number
  children: ReactNode
}

const sumOf = (previews: readonly RedrivePreview[], name: "messages" | "bytes" | "failing" | "skipped" | "takes_ms" | "read" | "causes" | "hidden_groups") =>
  previews.reduce((sum, preview) => sum + preview[name], 0)

/** What a redrive would do, in figures; it keeps itself up to date with what is picked. */
export function DryRun({ asked, previews, isReady: isChosen, rate, children }: DryRunProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const unread = previews.filter(isUnread)
  const isReady = isChosen && unread.length === 0
  const messages = sumOf(previews, "messages")
  const failing = sumOf(previews, "failing")
  const skipped = sumOf(previews, "skipped")
  const stored = previews.some((preview) => preview.stored === null) ? null : previews.reduce((sum, preview) => sum + (preview.stored ?? 0), 0)
  const able = messages - failing
  return (
    <>
      <div className={classes.hero}>
        <h2>
          <IconCircleCheck size={16} stroke={1.6} aria-hidden color={isReady && able > 0 ? "var(--ok)" : "var(--ink-3)"} />
          {isReady ? t("deadLetters.dryRun", { count: able, n: count(able) }) : t("states.unknown")}
        </h2>
        <strong>{isReady ? count(messages) : "—"}</strong>{" "}
        {isReady && <span className="micro">{t("deadLetters.ofMessages", { n: stored === null ? "—" : count(stored), count: sumOf(previews, "causes") })}</span>}
      </div>
      {children}
      {unread.flatMap(({ missing }) => missing).map(({ broker, reason }) => (
        <Callout key={broker}>{t("deadLetters.unread", { broker, reason: reasonIn(t, reason) })}</Callout>
      ))}
      {isReady && (
        <>
          <Definitions
            items={[
              [t("deadLetters.from"), asked.map(([group], index) => t("deadLetters.fromOne", { group, n: count(previews[index]?.messages ?? 0) })).join(t("list.comma"))],
              [t("deadLetters.takes"), t("deadLetters.takesWords", { time: format.duration(Math.max(1_000, sumOf(previews, "takes_ms"))), rate: count(rate) })],
              [t("deadLetters.tries"), t("deadLetters.triesWords")],
              [t("deadLetters.storedAgain"), t("deadLetters.storedAgainWords", { bytes: bytes(sumOf(previews, "bytes")) })],
              [t("deadLetters.originals"), t("deadLetters.originalsWords")],
              [t("deadLetters.failing"), count(failing)],
              ...(skipped > 0 ? [[t("deadLetters.skipped"), t("deadLetters.skippedWords", { n: count(skipped) })] as [string, ReactNode]] : []),
            ]}
          />
          {previews.some(({ complete }) => !complete) && (
            <Callout>{t("deadLetters.partial", { read: count(sumOf(previews, "read")), stored: stored === null ? "—" : count(stored) })}</Callout>
          )}
          {previews.flatMap(({ topics }) => topics.flatMap(({ topic, refused }) => (refused === null ? [] : [<Callout key={topic}>{reasonIn(t, refused)}</Callout>])))}
          {previews.flatMap(({ warning }) => (warning === null ? [] : [<Callout key={warning}>{reasonIn(t, warning)}</Callout>]))}
          <SeenBy previews={previews} />
        </>
      )}
    </>
  )
}

/** The groups that will see the copies; those that are not meant have to be allowed by name. */
function SeenBy({ previews }: { previews: readonly RedrivePreview[] }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const groups = new Map<string, boolean>()
  for (const { groups: found } of previews) for (const { name, failed } of found) groups.set(name, failed || (groups.get(name) ?? false))
  const hidden = sumOf(previews, "hidden_groups")
  const hiddenWords = t("deadLetters.hidden", { count: hidden })
  const others = [...[...groups].filter(([, isOwn]) => !isOwn).map(([name]) => name), ...(hidden > 0 ? [hiddenWords] : [])]
  if (groups.size === 0 && hidden === 0) return null
  return (
    <div className={classes.seen}>
      <h3>{t("deadLetters.whoSees")}</h3>
      <ul>
        {[...groups].map(([name, isOwn]) => (
          <li key={name}>
            {name}
            <small>{t(isOwn ? "deadLetters.itsOwn" : "deadLetters.seesAgain")}</small>
          </li>
        ))}
        {hidden > 0 && <li>{hiddenWords}</li>}
      </ul>
      {previews.some(({ needs_allow_live_target: needs }) => needs) && (
        <Checkbox
          size="14px"
          label={t("deadLetters.allow", { groups: others.join(t("list.comma")) })}
          checked={state.allow === "yes"}
          onChange={(event) => change({ allow: event.currentTarget.checked ? "yes" : undefined })}
        />
      )}
    </div>
  )
}
