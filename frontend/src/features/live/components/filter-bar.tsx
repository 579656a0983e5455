import { NumberInput, SegmentedControl } from "@mantine/core"
import { IconFilter } from "@tabler/icons-react"
import { useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { useKeys } from "@/hooks/use-keys"
import type { UrlState } from "@/hooks/use-url-state"
import { percent } from "@/lib/format"
import { type ConditionFault, conditionFault, isSql, writeConditions } from "../conditions"
import type { Counts } from "../frames"
import { MOST_RATE, SAMPLES, type Watched } from "../watched"
import { faultWords } from "./fault-words"
import classes from "./live.module.css"

interface FilterBarProps {
  watched: Watched
  counts: Counts
  /** What the server finds wrong with the SQL. */
  sqlFault: string | null
  onChange: (patch: UrlState) => void
}

/** What is shown of what comes by: the filter, how much is read, how much is shown. */
export function FilterBar({ watched, counts, sqlFault, onChange }: FilterBarProps) {
  const { t } = useTranslation()
  const words = watched.sample === "1" ? "tail.passing" : "tail.passingAbout"
  return (
    <div className={classes.bar}>
      <Conditions conditions={watched.conditions} sqlFault={sqlFault} onChange={(next) => onChange({ filter: writeConditions(next) })} />
      {watched.conditions.length > 0 && counts.read > 0 && <span className={classes.passing}>{t(words, { percent: percent(counts.matched / counts.read) })}</span>}
      <span className={classes.amounts}>
        <span>{t("tail.read")}</span>
        <SegmentedControl
          aria-label={t("tail.read")}
          value={watched.sample}
          onChange={(sample) => onChange({ sample: sample === "1" ? undefined : sample })}
          data={SAMPLES.map((sample) => ({ value: sample, label: t(`tail.samples.${sample}`) }))}
        />
        <span>{t("tail.atMost")}</span>
        <Rate rate={watched.rate} onChange={(rate) => onChange({ rate: rate === 50 ? undefined : String(rate) })} />
      </span>
    </div>
  )
}

interface ConditionsProps {
  conditions: string[]
  sqlFault: string | null
  onChange: (next: string[]) => void
}

function Conditions({ conditions, sqlFault, onChange }: ConditionsProps) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState("")
  const [refused, setRefused] = useState<ConditionFault | null>(null)
  const field = useRef<HTMLInputElement>(null)
  useKeys({ "/": () => field.current?.focus() })
  const words = refused === null ? sqlFault : faultWords(t, refused)
  return (
    <form
      className={classes.filter}
      onSubmit={(event) => {
        event.preventDefault()
        if (!typed.trim()) return
        const fault = conditionFault(typed, conditions)
        setRefused(fault)
        if (fault !== null) return
        onChange([...conditions, typed.trim()])
        setTyped("")
      }}
    >
      <IconFilter size={16} stroke={1.6} aria-hidden />
      {conditions.map((condition, at) => (
        <button
          key={`${at} ${condition}`}
          type="button"
          className={classes.condition}
          aria-label={t("tail.removeCondition", { condition })}
          data-faulty={conditionFault(condition, conditions.slice(0, at)) !== null || (sqlFault !== null && isSql(condition)) || undefined}
          onClick={() => onChange(conditions.filter((_, index) => index !== at))}
        >
          {condition}
        </button>
      ))}
      <input
        ref={field}
        aria-label={t("tail.filter")}
        placeholder={t("tail.filterWords")}
        value={typed}
        spellCheck={false}
        aria-invalid={words !== null || undefined}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          setRefused(null)
        }}
      />
      {words !== null && <span role="alert">{words}</span>}
    </form>
  )
}

/** It takes effect when the field is left, so that no tail begins for a number half typed. */
function Rate({ rate, onChange }: { rate: number; onChange: (rate: number) => void }) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState<number | string>(rate)
  const isWrong = typeof typed !== "number" || typed < 1 || typed > MOST_RATE
  return (
    <NumberInput
      aria-label={t("tail.atMost")}
      value={typed}
      error={isWrong && t("forms.wholeBetween", { min: "1", max: "1,000" })}
      clampBehavior="none"
      allowDecimal={false}
      hideControls
      suffix=" /s"
      w={92}
      onChange={setTyped}
      onBlur={() => !isWrong && onChange(typed)}
      onKeyDown={(event) => event.key === "Enter" && !isWrong && onChange(typed)}
    />
  )
}
