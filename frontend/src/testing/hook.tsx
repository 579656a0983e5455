import { type QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { renderHook } from "@testing-library/react"
import type { ReactNode } from "react"

/** Renders a hook that reads through a cache, with nothing else around it. */
export function renderCached<T, P>(cache: QueryClient, hook: (props: P) => T, initialProps?: P) {
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={cache}>{children}</QueryClientProvider>
  return renderHook(hook, { wrapper, ...(initialProps !== undefined && { initialProps }) })
}
