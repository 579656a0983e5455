import type { QueryClient } from "@tanstack/react-query"
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router"
import type { UrlState } from "@/hooks/use-url-state"
import { meQuery } from "@/hooks/use-rights"
import { env } from "@/config/env"
import { withAllWords } from "@/lib/i18n"
import { asProblem } from "@/lib/problem"
import { NotFound } from "./routes/not-found"
import { RouteFailed } from "./routes/route-failed"
import { parseSearch, stringifySearch } from "./search"
import { Shell } from "./shell/shell"
import { nextOf } from "./sign-in"

interface Context {
  cache: QueryClient
}

const root = createRootRouteWithContext<Context>()({
  component: Outlet,
  validateSearch: (search: Record<string, unknown>) => search as UrlState,
  search: { middlewares: [retainSearchParams(["cluster", "zone"])] },
  notFoundComponent: NotFound,
})

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  component: lazyRouteComponent(() => import("./routes/login"), "LoginRoute"),
})

/** Everything behind the sign-in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  component: Shell,
  errorComponent: RouteFailed,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.cache.ensureQueryData(meQuery)
    } catch (error) {
      if (asProblem(error).status !== 401 && asProblem(error).status !== 403) throw error
      throw redirect({ to: "/login", search: nextOf(location.href) })
    }
  },
})

const parent = { getParentRoute: () => inside }

const pages = [
  createRoute({ ...parent, path: "/", component: lazyRouteComponent(() => import("./routes/overview"), "OverviewRoute") }),
  createRoute({ ...parent, path: "/live", component: lazyRouteComponent(() => withAllWords(import("./routes/live")), "LiveRoute") }),
  createRoute({ ...parent, path: "/live/wallboard", component: lazyRouteComponent(() => withAllWords(import("./routes/wallboard")), "WallboardRoute") }),
  createRoute({ ...parent, path: "/topics", component: lazyRouteComponent(() => withAllWords(import("./routes/topics")), "TopicsRoute") }),
  createRoute({ ...parent, path: "/topics/$topic", component: lazyRouteComponent(() => withAllWords(import("./routes/topic")), "TopicRoute") }),
  createRoute({ ...parent, path: "/groups", component: lazyRouteComponent(() => withAllWords(import("./routes/groups")), "GroupsRoute") }),
  createRoute({ ...parent, path: "/groups/$group", component: lazyRouteComponent(() => withAllWords(import("./routes/group")), "GroupRoute") }),
  createRoute({ ...parent, path: "/groups/$group/offsets", component: lazyRouteComponent(() => withAllWords(import("./routes/group-offsets")), "GroupOffsetsRoute") }),
  createRoute({ ...parent, path: "/messages", component: lazyRouteComponent(() => withAllWords(import("./routes/messages")), "MessagesRoute") }),
  createRoute({ ...parent, path: "/messages/compare", component: lazyRouteComponent(() => withAllWords(import("./routes/compare")), "CompareRoute") }),
  createRoute({ ...parent, path: "/messages/$id", component: lazyRouteComponent(() => withAllWords(import("./routes/message")), "MessageRoute") }),
  createRoute({ ...parent, path: "/scheduled", component: lazyRouteComponent(() => withAllWords(import("./routes/scheduled")), "ScheduledRoute") }),
  createRoute({ ...parent, path: "/transactions", component: lazyRouteComponent(() => withAllWords(import("./routes/transactions")), "TransactionsRoute") }),
  createRoute({ ...parent, path: "/dead-letters", component: lazyRouteComponent(() => withAllWords(import("./routes/dead-letters")), "DeadLettersRoute") }),
  createRoute({ ...parent, path: "/alerts", component: lazyRouteComponent(() => withAllWords(import("./routes/alerts")), "AlertsRoute") }),
  createRoute({ ...parent, path: "/jobs", component: lazyRouteComponent(() => withAllWords(import("./routes/jobs")), "JobsRoute") }),
  createRoute({ ...parent, path: "/jobs/new/replay", component: lazyRouteComponent(() => withAllWords(import("./routes/new-replay")), "NewReplayRoute") }),
  createRoute({ ...parent, path: "/jobs/new/reconcile", component: lazyRouteComponent(() => withAllWords(import("./routes/new-reconcile")), "NewReconcileRoute") }),
  createRoute({ ...parent, path: "/jobs/new/redrive", component: lazyRouteComponent(() => withAllWords(import("./routes/new-redrive")), "NewRedriveRoute") }),
  createRoute({ ...parent, path: "/jobs/new/export", component: lazyRouteComponent(() => withAllWords(import("./routes/new-export")), "NewExportRoute") }),
  createRoute({ ...parent, path: "/jobs/$job", component: lazyRouteComponent(() => withAllWords(import("./routes/job")), "JobRoute") }),
  createRoute({ ...parent, path: "/schedules", component: lazyRouteComponent(() => withAllWords(import("./routes/schedules")), "SchedulesRoute") }),
  createRoute({ ...parent, path: "/broker", component: lazyRouteComponent(() => withAllWords(import("./routes/broker")), "BrokerRoute") }),
  createRoute({ ...parent, path: "/broker/$broker", component: lazyRouteComponent(() => withAllWords(import("./routes/broker-name")), "BrokerNameRoute") }),
  createRoute({ ...parent, path: "/clusters", component: lazyRouteComponent(() => withAllWords(import("./routes/clusters")), "ClustersRoute") }),
  createRoute({ ...parent, path: "/audit", component: lazyRouteComponent(() => withAllWords(import("./routes/audit")), "AuditRoute") }),
  createRoute({ ...parent, path: "/access", component: lazyRouteComponent(() => withAllWords(import("./routes/access")), "AccessRoute") }),
  createRoute({ ...parent, path: "/api-reference", component: lazyRouteComponent(() => withAllWords(import("./routes/api-reference")), "ApiReferenceRoute") }),
  createRoute({ ...parent, path: "/settings", component: lazyRouteComponent(() => withAllWords(import("./routes/settings")), "SettingsRoute") }),
  createRoute({ ...parent, path: "$", component: NotFound }),
] as const

const tree = root.addChildren([login, inside.addChildren(pages)])

export const buildRouter = (cache: QueryClient) =>
  createRouter({
    routeTree: tree,
    basepath: env.base || "/",
    context: { cache },
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    defaultErrorComponent: RouteFailed,
    scrollRestoration: true,
    scrollToTopSelectors: ["#content"],
  })

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof buildRouter>
  }
}
