import { QueryClient } from "@tanstack/react-query"
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router"
import { render, type RenderResult } from "@testing-library/react"
import userEvent, { type UserEvent } from "@testing-library/user-event"
import type { ReactNode } from "react"
import { Providers } from "@/app/providers"
import { parseSearch, stringifySearch } from "@/app/search"
import { startTranslations } from "@/lib/i18n"
import { namingQuery } from "@/hooks/use-naming"
import { meQuery } from "@/hooks/use-rights"
import type { Me } from "@/lib/api-types"
import { admin, naming } from "./factories"

await startTranslations("en")

interface Rendered extends RenderResult {
  user: UserEvent
  cache: QueryClient
  /** The address, as somebody would share it. */
  address: () => string
}

interface Options {
  at?: string
  me?: Me
}

/** Renders a part of the console with its cache, a router in memory, and somebody signed in. */
export function renderApp(part: ReactNode, { at = "/", me = admin() }: Options = {}): Rendered {
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: "always" } } })
  cache.setQueryData(meQuery.queryKey, me)
  cache.setQueryData(namingQuery.queryKey, naming())
  const root = createRootRoute({ component: Outlet, validateSearch: (search: Record<string, unknown>) => search })
  const any = createRoute({ getParentRoute: () => root, path: "$", component: () => part })
  const home = createRoute({ getParentRoute: () => root, path: "/", component: () => part })
  const history = createMemoryHistory({ initialEntries: [at] })
  const router = createRouter({ routeTree: root.addChildren([home, any]), history, parseSearch, stringifySearch })
  const result = render(
    <Providers client={cache}>
      <RouterProvider router={router as never} />
    </Providers>,
  )
  return { ...result, user: userEvent.setup({ delay: null }), cache, address: () => history.location.href }
}
