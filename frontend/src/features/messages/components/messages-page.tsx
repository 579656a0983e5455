import { SegmentedControl } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { Page } from "@/components/layout/page"
import { useUrlState } from "@/hooks/use-url-state"
import type { MessageSummary } from "@/lib/api-types"
import { savedQueryOf } from "../saved-query"
import { MODES, modeOf } from "../search-state"
import { useFoundMessages } from "../use-found-messages"
import { ExportResults } from "./export-results"
import { MessageDrawer } from "./message-drawer"
import { MessageResults } from "./message-results"
import { SaveSearch } from "./save-search"
import { SavedSearches } from "./saved-searches"
import { SearchBar } from "./search-bar"

/** Finds messages by key, id, time, or place in a queue; all of it is in the address. */
export function MessagesPage({ cluster, topics }: { cluster: string; topics: string[] }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const [now, setNow] = useState(() => Date.now())
  const [isSaving, setSaving] = useState(false)
  const query = savedQueryOf(state)
  const mode = modeOf(state)
  const found = useFoundMessages(cluster, state, now)
  const open = mode === "id" ? state.id : state.open
  const openTopic = found.rows?.find(({ message_id }) => message_id === open)?.topic ?? state.topic
  const show = (message: MessageSummary | undefined) => change({ open: message?.message_id })
  const message = open !== undefined && openTopic !== undefined && (
    <MessageDrawer
      cluster={cluster}
      address={{ id: open, topic: openTopic }}
      rows={found.rows ?? []}
      onShow={show}
      onClose={() => change(mode === "id" ? { id: undefined } : { open: undefined })}
    />
  )
  const close = () => setSaving(false)
  const save = isSaving && query && (
    <SaveSearch
      cluster={cluster}
      query={query}
      onClose={close}
      onSaved={({ id }) => {
        close()
        change({ saved: String(id) })
      }}
    />
  )
  return (
    <DockedPage drawer={save || message}>
      <Page
        fill
        title={t("nav.messages")}
        actions={
          <>
            <ExportResults cluster={cluster} state={state} now={now} />
            <SavedSearches cluster={cluster} state={state} onSave={() => setSaving(true)} />
          </>
        }
        badge={
          <SegmentedControl
            data-even
            aria-label={t("messages.mode")}
            value={mode}
            onChange={(next) => change({ mode: next === "key" ? undefined : next, open: undefined })}
            data={MODES.map((name) => ({ value: name, label: t(`messages.modes.${name}`) }))}
          />
        }
      >
        <SearchBar
          key={`${mode} ${mode === "id" ? (state.id ?? "") : ""}`}
          mode={mode}
          state={state}
          topics={topics}
          isBusy={found.isBusy}
          onSearch={(patch) => {
            setNow(Date.now())
            change(patch, { push: true })
          }}
        />
        <MessageResults state={state} now={now} found={found} open={open} onShow={show} onChange={change} />
      </Page>
    </DockedPage>
  )
}
