import { Checkbox } from "@mantine/core"
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { LagRail } from "@/components/rail/rail"
import { Num } from "@/components/values/num"
import { Time } from "@/components/values/time"
import type { DeadLetterCause, DeadLetterGroup } from "@/lib/api-types"
import { isCausePicked, type Picked } from "../picks"
import classes from "./dead-letters.module.css"

interface GroupRowProps {
  group: DeadLetterGroup
  picked: Picked | undefined
  isOpen: boolean
  onPick: (isOn: boolean) => void
  onFold: () => void
}

/** A group: sunken, with a mixed tick when some of its causes are picked. */
export function GroupRow({ group, picked, isOpen, onPick, onFold }: GroupRowProps) {
  const { t } = useTranslation()
  const { name } = group
  const Chevron = isOpen ? IconChevronDown : IconChevronRight
  return (
    <tr data-group>
      <td className={classes.tick}>
        <Checkbox
          size="14px"
          aria-label={t("deadLetters.pickGroup", { group: name })}
          checked={picked === "all"}
          indeterminate={picked !== undefined && picked !== "all"}
          onChange={(event) => onPick(event.currentTarget.checked)}
        />
      </td>
      <td className={classes.name}>
        <button type="button" className={classes.fold} aria-expanded={isOpen} aria-label={t(isOpen ? "deadLetters.close" : "deadLetters.open", { group: name })} onClick={onFold}>
          <Chevron size={14} stroke={1.6} aria-hidden />
        </button>{" "}
        <Link to="/groups/$group" params={{ group: name }} search={{ tab: "dead-letters" }}>
          {name}
        </Link>
      </td>
      <td className={`${classes.quiet} ${classes.wide}`}>{group.topics.join(t("list.comma"))}</td>
      <td className={`${classes.number} ${classes.strong}`}>
        <Num value={group.messages} reason={group.unknown_reason} />
      </td>
      <td className={classes.wide} />
      <td className={`${classes.number} ${classes.wide}`}>
        <Time at={group.first_at} />
      </td>
      <td className={classes.number}>
        <Time at={group.last_at} />
      </td>
    </tr>
  )
}

interface CauseRowProps {
  group: string
  cause: DeadLetterCause
  picked: Picked | undefined
  scale: number
  onPick: () => void
}

/** A cause under its group; none given is a hatch with words. */
export function CauseRow({ group, cause, picked, scale, onPick }: CauseRowProps) {
  const { t } = useTranslation()
  const isPicked = isCausePicked(picked, cause.reason)
  const words = cause.reason ?? t("deadLetters.noReason")
  return (
    <tr data-picked={isPicked || undefined}>
      <td className={classes.tick}>
        <Checkbox size="14px" aria-label={t("deadLetters.pickCause", { cause: words, group })} checked={isPicked} onChange={onPick} />
      </td>
      <td className={classes.name}>
        <div className={classes.cause}>{cause.reason === null ? <span className={classes.none}>{words}</span> : words}</div>
      </td>
      <td className={`${classes.quiet} ${classes.wide}`}>{t(`deadLetters.readFrom_.${cause.read_from}`)}</td>
      <td className={`${classes.number} ${classes.strong}`}>
        <Num value={cause.count} />
      </td>
      <td className={`${classes.wide} ${classes.share}`}>
        <LagRail lag={cause.count} scale={scale} tone={isPicked ? "ours" : "normal"} />
      </td>
      <td className={`${classes.number} ${classes.wide}`}>
        <Time at={cause.first_at} />
      </td>
      <td className={classes.number}>
        <Time at={cause.last_at} />
      </td>
    </tr>
  )
}
