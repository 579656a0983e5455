import { SegmentedControl } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { JsonTree } from "@/components/code/json-tree"
import { Callout } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import type { WholeMessage } from "@/lib/api-types"
import { exactJson } from "@/lib/exact-json"
import { bytes } from "@/lib/format"
import { bytesOf, hexRows, MOST_HEX_BYTES, textOf } from "../body"
import { SectionHead } from "./section-head"

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

export function MessageBody({ message }: { message: WholeMessage }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const { body } = message
  const views = body.encoding === "json" ? (["tree", "raw", "hex"] as const) : (["raw", "hex"] as const)
  const first = body.encoding === "base64" ? "hex" : views[0]
  const view = views.find((name) => name === state.view) ?? first
  return (
    <>
      <SectionHead name={t("messages.sections.body")} fact={`${t(`messages.encodings.${body.encoding}`)} · ${bytes(message.body_bytes)}`}>
        <SegmentedControl
          size="xs"
          data-size="xs"
          value={view}
          onChange={(next) => change({ view: next === first ? undefined : next })}
          data={views.map((name) => ({ value: name, label: t(`messages.views.${name}`) }))}
        />
      </SectionHead>
      {message.damage !== null && <Callout tone="crit">{t("messages.damagedWhy", { reason: message.damage })}</Callout>}
      {view === "tree" && <Tree message={message} />}
      {view === "raw" && <CodeBlock wrap language={body.encoding === "json" ? "json" : "plain"} text={textOf(body)} label={t("messages.sections.body")} />}
      {view === "hex" && <Hex message={message} />}
    </>
  )
}

function Tree({ message }: { message: WholeMessage }) {
  const { t } = useTranslation()
  const format = useFormat()
  const noteOf = (value: unknown): string | null => {
    if (typeof value !== "string") return null
    if (message.keys.includes(value)) return t(message.keys.length > 1 ? "messages.aKey" : "messages.theKey")
    return ISO_TIME.test(value) ? `${format.when(value)} ${format.zoneLabel()}` : null
  }
  const { text, data } = message.body
  const exact = useMemo(() => (text === null ? undefined : exactJson(text)), [text])
  return <JsonTree data={exact ?? data} noteOf={noteOf} />
}

function Hex({ message }: { message: WholeMessage }) {
  const { t } = useTranslation()
  const rows = useMemo(() => hexRows(bytesOf(message.body)), [message.body])
  return (
    <>
      <CodeBlock text={rows.join("\n")} label={t("messages.views.hex")} />
      {message.body_bytes > MOST_HEX_BYTES && <p className="micro">{t("messages.hexCut", { n: bytes(MOST_HEX_BYTES) })}</p>}
    </>
  )
}
