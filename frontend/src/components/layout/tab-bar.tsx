import { useEffect, useRef } from "react"
import { useUrlState } from "@/hooks/use-url-state"
import classes from "./layout.module.css"

export interface TabItem {
  id: string
  label: string
  count?: string | undefined
}

/** Tabs that live in the address; the first is the default and needs no word in it. */
export function TabBar({ tabs, name = "tab" }: { tabs: TabItem[]; name?: string }) {
  const [state, change] = useUrlState()
  const current = currentTab(tabs, state[name])
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const bar = list.current
    const tab = bar?.querySelector<HTMLElement>("[aria-selected=true]")
    // Not scrollIntoView: that would scroll the page too.
    if (bar && tab) bar.scrollLeft = tab.offsetLeft - bar.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2
  }, [current])
  return (
    <div className={classes.tabs} role="tablist" ref={list}>
      {tabs.map(({ id, label, count }, index) => (
        <a
          key={id}
          role="tab"
          tabIndex={0}
          className={classes.tab}
          aria-selected={id === current}
          onClick={() => change({ [name]: index === 0 ? undefined : id })}
          onKeyDown={(event) => {
            if (event.key === "Enter" || event.key === " ") change({ [name]: index === 0 ? undefined : id })
          }}
        >
          {label}
          {count !== undefined && <small>{count}</small>}
        </a>
      ))}
    </div>
  )
}

export const currentTab = (tabs: { id: string }[], wanted: string | undefined): string =>
  tabs.find(({ id }) => id === wanted)?.id ?? tabs[0]?.id ?? ""
