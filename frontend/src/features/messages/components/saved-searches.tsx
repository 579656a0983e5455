import { ActionIcon, Menu } from "@mantine/core"
import { useClipboard } from "@mantine/hooks"
import { IconBookmark, IconBookmarkFilled, IconBookmarkPlus, IconDeviceFloppy, IconLink, IconTrash } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { toastDone, toastFailed } from "@/components/toast/toast"
import type { UrlState } from "@/hooks/use-url-state"
import type { SavedSearch } from "@/lib/api-types"
import { useDeleteSavedSearch } from "../api/delete-saved-search"
import { useSavedSearches } from "../api/get-saved-searches"
import { useUpdateSavedSearch } from "../api/update-saved-search"
import { addressOf, isSameQuery, savedQueryOf } from "../saved-query"
import classes from "./messages.module.css"

interface SavedSearchesProps {
  cluster: string
  state: UrlState
  onSave: () => void
}

/** What one looks for again: opened, changed and removed here; the link carries the whole search. */
export function SavedSearches({ cluster, state, onSave }: SavedSearchesProps) {
  const { t } = useTranslation()
  const saved = useSavedSearches()
  const navigate = useNavigate()
  const clipboard = useClipboard()
  const present = saved.data?.items.find(({ id }) => String(id) === state.saved)
  const query = savedQueryOf(state)
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={present?.name ?? t("searches.title")} title={present?.name ?? t("searches.title")}>
          {present ? <IconBookmarkFilled size={16} /> : <IconBookmark size={16} stroke={1.6} />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown className={classes.saved ?? ""}>
        {saved.error !== null && <Menu.Label>{t("searches.failed")}</Menu.Label>}
        {saved.data?.items.length === 0 && <Menu.Label>{t("searches.none")}</Menu.Label>}
        {saved.data?.items.map((search) => (
          <Menu.Item key={search.id} onClick={() => void navigate({ to: "/messages", search: addressOf(search, cluster) })}>
            {search.cluster === cluster ? search.name : t("searches.elsewhere", { name: search.name, cluster: search.cluster })}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconBookmarkPlus size={15} stroke={1.6} />} disabled={query === null} onClick={onSave}>
          {t("searches.save")}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLink size={15} stroke={1.6} />}
          onClick={() => {
            clipboard.copy(window.location.href)
            toastDone(t("searches.linkCopied"))
          }}
        >
          {t("searches.copyLink")}
        </Menu.Item>
        {present && <ChangeItems search={present} query={query} />}
      </Menu.Dropdown>
    </Menu>
  )
}

function ChangeItems({ search, query }: { search: SavedSearch; query: ReturnType<typeof savedQueryOf> }) {
  const { t } = useTranslation()
  const update = useUpdateSavedSearch()
  const remove = useDeleteSavedSearch()
  const { id, name } = search
  return (
    <>
      {query !== null && !isSameQuery(search.query, { ...query }) && (
        <Menu.Item
          leftSection={<IconDeviceFloppy size={15} stroke={1.6} />}
          onClick={() =>
            update.mutate({ id, query }, { onSuccess: () => toastDone(t("searches.updated", { name })), onError: (error) => toastFailed(t("searches.notUpdated", { name }), error) })
          }
        >
          {t("searches.update", { name })}
        </Menu.Item>
      )}
      <Menu.Item
        color="var(--crit)"
        leftSection={<IconTrash size={15} stroke={1.6} />}
        onClick={() => remove.mutate(id, { onSuccess: () => toastDone(t("searches.removed", { name })), onError: (error) => toastFailed(t("searches.notRemoved", { name }), error) })}
      >
        {t("searches.remove", { name })}
      </Menu.Item>
    </>
  )
}
