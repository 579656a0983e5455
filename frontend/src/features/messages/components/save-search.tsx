import { TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { SavedSearch, SavedSearchInput } from "@/lib/api-types"
import { refusedFields } from "@/lib/problem"
import { useSaveSearch } from "../api/save-search"

interface SaveSearchProps {
  cluster: string
  query: SavedSearchInput["query"]
  onSaved: (search: SavedSearch) => void
  onClose: () => void
}

const LONGEST_NAME = 100

/** Gives the search of the address a name. */
export function SaveSearch({ cluster, query, onSaved, onClose }: SaveSearchProps) {
  const { t } = useTranslation()
  const [name, setName] = useState("")
  const save = useSaveSearch()
  const input = { name: name.trim(), cluster, query }
  const refused = refusedFields<object>(save, input)
  return (
    <FormDrawer
      title={t("searches.saveTitle")}
      action={t("searches.saveAction")}
      isReady={input.name !== ""}
      isBusy={save.isPending}
      onClose={onClose}
      onSubmit={() =>
        save.mutate(input, {
          onSuccess: (search) => {
            toastDone(t("searches.saved", { name: search.name }))
            onSaved(search)
          },
          onError: (error) => toastFailed(t("searches.notSaved"), error, ["name"]),
        })
      }
      request={{ method: "POST", path: paths.savedSearches, body: input }}
    >
      <TextInput
        data-autofocus
        label={t("searches.name")}
        description={t("searches.nameWords")}
        value={name}
        maxLength={LONGEST_NAME}
        error={refused.name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormDrawer>
  )
}
