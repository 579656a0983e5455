import { useQueryClient } from "@tanstack/react-query"
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router"
import { lazy, type MouseEvent, Suspense, useEffect, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { useHasSeveralBrokers, useOutageReason } from "@/features/clusters/api/get-overview"
import { MissingNotice } from "@/features/clusters/components/missing-notice"
import { useJobsFeed } from "@/features/jobs/api/jobs-feed"
import { chosenMessage } from "@/features/messages/comparison"
import { useCluster } from "@/hooks/use-cluster"
import { refreshAll } from "@/hooks/use-frozen-order"
import { useKeys } from "@/hooks/use-keys"
import { Outage } from "@/hooks/use-outage"
import { SeveralBrokers } from "@/hooks/use-several-brokers"
import { meQuery } from "@/hooks/use-rights"
import { signedOut } from "@/lib/api-client"
import { withAllWords } from "@/lib/i18n"
import { useStore } from "@/lib/store"
import { nextOf } from "../sign-in"
import { PaletteDoor } from "./palette-door"
import classes from "./shell.module.css"
import { Sidebar } from "./sidebar"
import { Topbar } from "./topbar"

// Its code comes with the first time it is asked for.
const KeysModal = lazy(async () => ({ default: (await import("./keys-modal")).KeysModal }))
const ComparisonBar = lazy(async () => ({ default: (await withAllWords(import("@/features/messages/components/comparison-bar"))).ComparisonBar }))

/** What surrounds every page: side bar, top bar, palette and keys. */
export function Shell() {
  const [menuAt, setMenuAt] = useState<string | null>(null)
  const [hasKeys, setKeys] = useState<boolean | null>(null)
  const { pathname } = useLocation()
  const cluster = useCluster()
  const outage = useOutageReason(cluster)
  const hasSeveralBrokers = useHasSeveralBrokers(cluster)
  const hasChosen = useStore(chosenMessage) !== null
  useLeaveWhenSignedOut()
  useJobsFeed()
  useJumps(() => setKeys(true))
  // A wallboard has the screen to itself; what leads elsewhere is behind Esc and the palette.
  if (pathname === "/live/wallboard")
    return (
      <main id="content">
        <Outlet />
        <PaletteDoor />
        <Suspense fallback={null}>{hasKeys !== null && <KeysModal isOpen={hasKeys} onClose={() => setKeys(false)} />}</Suspense>
      </main>
    )
  return (
    <div className={classes.shell} data-menu={menuAt === pathname || undefined}>
      <SkipLink />
      <Sidebar onKeys={() => setKeys(true)} />
      <div className={classes.veil} onClick={() => setMenuAt(null)} aria-hidden />
      <Topbar onMenu={() => setMenuAt(pathname)} />
      <main className={classes.content} id="content" tabIndex={-1}>
        <MissingNotice cluster={cluster} />
        <Suspense fallback={null}>{hasChosen && <ComparisonBar cluster={cluster} />}</Suspense>
        <Outage value={outage}>
          <SeveralBrokers value={hasSeveralBrokers}>
            <Outlet />
          </SeveralBrokers>
        </Outage>
      </main>
      <PaletteDoor />
      <Suspense fallback={null}>{hasKeys !== null && <KeysModal isOpen={hasKeys} onClose={() => setKeys(false)} />}</Suspense>
    </div>
  )
}

/** The first stop of the Tab key: past the bars. */
function SkipLink() {
  const { t } = useTranslation()
  const skip = (event: MouseEvent) => {
    event.preventDefault()
    document.getElementById("content")?.focus()
  }
  return (
    <a className={classes.skip} href="#content" onClick={skip}>
      {t("nav.skip")}
    </a>
  )
}

function useJumps(showKeys: () => void) {
  const navigate = useNavigate()
  const cache = useQueryClient()
  useKeys({
    "g o": () => void navigate({ to: "/" }),
    "g t": () => void navigate({ to: "/topics" }),
    "g g": () => void navigate({ to: "/groups" }),
    "g m": () => void navigate({ to: "/messages" }),
    "g j": () => void navigate({ to: "/jobs" }),
    r: () => void refreshAll(cache),
    "?": showKeys,
  })
}

/** A session that ended elsewhere leads to the sign-in page and back. */
function useLeaveWhenSignedOut() {
  const count = useStore(signedOut)
  const first = useRef(count)
  const navigate = useNavigate()
  const cache = useQueryClient()
  const { href } = useLocation()
  useEffect(() => {
    if (count === first.current) return
    first.current = count
    cache.removeQueries({ queryKey: meQuery.queryKey })
    void navigate({ to: "/login", search: nextOf(href) })
  }, [count, href, navigate, cache])
}
