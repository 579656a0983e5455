import { Button, Select } from "@mantine/core"
import { IconBraces, IconClock, IconHash, IconKey, IconList, IconSearch, IconStack2 } from "@tabler/icons-react"
import { useEffect, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { NamePicker } from "@/components/forms/name-picker"
import { useKeys } from "@/hooks/use-keys"
import { useSeveralBrokers } from "@/hooks/use-several-brokers"
import type { UrlState } from "@/hooks/use-url-state"
import { MOST_KEYS } from "../api/look-up-keys"
import { filterFault, isCount, keysOf, type Mode, rangeFault, type Span, SPANS, spanOf } from "../search-state"
import { CustomRange } from "./custom-range"
import { FilterHelp } from "./filter-help"
import classes from "./messages.module.css"

interface SearchBarProps {
  mode: Mode
  state: UrlState
  topics: string[]
  isBusy: boolean
  onSearch: (patch: UrlState) => void
}

const ICONS = { key: IconKey, keys: IconList, id: IconHash, time: IconClock, offset: IconStack2, content: IconBraces } as const

/** One bar for all modes: what is looked for, in which topic, over which time. */
export function SearchBar({ mode, state, topics, isBusy, onSearch }: SearchBarProps) {
  const { t } = useTranslation()
  const [draft, setDraft] = useState<UrlState>(state)
  const [span, setSpan] = useState<Span>(spanOf(state))
  const set = (patch: UrlState) => setDraft((known) => ({ ...known, ...patch }))
  const Icon = ICONS[mode]
  const hasSpan = mode !== "id" && mode !== "offset"
  const fault = hasSpan && span === "custom" ? rangeFault(draft) : null
  const isReady = readiness(mode, draft) && !fault
  const isAll = mode === "keys" || mode === "key"
  const submit = () => {
    const range = span === "custom" ? { from: draft.from, to: draft.to, span: undefined } : { from: undefined, to: undefined, span }
    onSearch({
      topic: draft.topic,
      ...keysWanted(mode, draft),
      where: mode === "content" ? draft.where?.trim() : undefined,
      id: mode === "id" ? draft.id?.trim() : undefined,
      queue: mode === "offset" || mode === "time" ? draft.queue : undefined,
      broker: mode === "offset" ? draft.broker?.trim() : undefined,
      offset: mode === "offset" ? draft.offset : undefined,
      open: undefined,
      ...(hasSpan && range),
    })
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) submit()
      }}
    >
      <div className={classes.bar}>
        <Icon size={16} stroke={1.6} aria-hidden />
        <ModeInputs mode={mode} draft={draft} onChange={set} />
        <div className={classes.part}>
          <NamePicker
            aria-label={t("messages.topic")}
            placeholder={t(isAll ? "find.allTopics" : "messages.chooseTopic")}
            clearable={isAll}
            names={topics}
            value={draft.topic}
            onChange={(topic) => set({ topic })}
            w={190}
          />
        </div>
        {hasSpan && (
          <div className={classes.part}>
            <Select
              aria-label={t("messages.span")}
              data={SPANS.map((name) => ({ value: name, label: t(`messages.spans.${name}`) }))}
              value={span}
              onChange={(next) => setSpan(next as Span)}
              w={128}
            />
          </div>
        )}
        <Button type="submit" variant="filled" className={classes.button ?? ""} leftSection={<IconSearch size={15} stroke={1.8} />} disabled={!isReady} loading={isBusy}>
          {t("messages.search")}
        </Button>
      </div>
      {!isAll && !draft.topic && hasWords(draft) && <p className="micro">{t("messages.topicMissing")}</p>}
      {mode === "content" && <FilterHelp where={draft.where} />}
      {hasSpan && span === "custom" && <CustomRange from={draft.from} to={draft.to} isReversed={fault === "reversed"} onChange={set} />}
    </form>
  )
}

function readiness(mode: Mode, draft: UrlState): boolean {
  if (mode === "keys") return isManyKeys(keysOf(draft.keys).length)
  if (mode === "key") return Boolean(draft.key?.trim()) && (Boolean(draft.topic) || isManyKeys(keysOf(draft.key).length))
  if (!draft.topic) return false
  if (mode === "id") return Boolean(draft.id?.trim())
  if (mode === "content") return filterFault(draft.where) === null
  if (mode === "offset") return isCount(draft.queue) && isCount(draft.offset)
  return true
}

const hasWords = ({ id, where, queue, offset }: UrlState): boolean => [id, where, queue, offset].some((words) => words?.trim())

function keysWanted(mode: Mode, { key, keys }: UrlState): UrlState {
  if (mode === "key") return { key: key?.trim(), keys: undefined }
  return { key: undefined, keys: mode === "keys" ? keysOf(keys).join(" ") : undefined }
}

const isManyKeys = (n: number) => n > 0 && n <= MOST_KEYS

interface ModeInputsProps {
  mode: Mode
  draft: UrlState
  onChange: (patch: UrlState) => void
}

function ModeInputs({ mode, draft, onChange }: ModeInputsProps) {
  const { t } = useTranslation()
  const first = useRef<HTMLInputElement>(null)
  const withBroker = useSeveralBrokers() || draft.broker !== undefined
  useKeys({ "/": () => first.current?.focus() })
  useEffect(() => {
    if (window.matchMedia("(min-width: 900px)").matches) first.current?.focus()
  }, [mode])
  const input = (field: "key" | "keys" | "where" | "id" | "queue" | "broker" | "offset", label: string, isFirst: boolean) => (
    <input
      key={field}
      ref={isFirst ? first : undefined}
      className={classes.text}
      aria-label={label}
      placeholder={label}
      value={draft[field] ?? ""}
      inputMode={field === "queue" || field === "offset" ? "numeric" : "text"}
      spellCheck={false}
      onChange={(event) => onChange({ [field]: event.currentTarget.value })}
    />
  )
  if (mode === "key") return input("key", t("messages.keyWords"), true)
  if (mode === "keys") return input("keys", t("find.keysWords"), true)
  if (mode === "content") return input("where", t("find.whereWords"), true)
  if (mode === "id") return input("id", t("messages.idWords"), true)
  if (mode === "time") return input("queue", t("messages.anyQueue"), true)
  return [
    input("queue", t("messages.queue"), true),
    withBroker && input("broker", t("messages.broker"), false),
    input("offset", t("messages.offset"), false),
  ]
}
