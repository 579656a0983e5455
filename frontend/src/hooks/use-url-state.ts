import { useNavigate, useSearch } from "@tanstack/react-router"
import { useCallback } from "react"

export type UrlState = Record<string, string | undefined>

/** The query string as plain words, and a way to change some of them. What a link should restore lives here. */
export function useUrlState(): [UrlState, (patch: UrlState, options?: { push?: boolean }) => void] {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = useCallback(
    (patch: UrlState, { push = false } = {}) => {
      void navigate({ to: ".", search: (known: UrlState) => compacted({ ...known, ...patch }), replace: !push })
    },
    [navigate],
  )
  return [search, change]
}

function compacted(state: UrlState): UrlState {
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined && value !== ""))
}
