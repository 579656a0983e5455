import { paths } from "@/config/paths"
import type { CurlRequest } from "@/lib/curl"
import { createStoredStore } from "@/lib/store"

export const FIRST_TOPIC = "hello"
const FIRST_GROUP = "demo"

/** Set when somebody prefers the overview to the first steps. */
export const firstRunClosed = createStoredStore("gantry.first-run-closed", false)

/** The three requests that make an empty broker a used one. */
export const firstRequests = (cluster: string, topic: string) => ({
  create: {
    method: "POST",
    path: paths.topics(cluster),
    body: { name: topic, read_queues: 4, write_queues: 4 },
  } satisfies CurlRequest,
  send: {
    method: "POST",
    path: paths.topicMessages(cluster, topic),
    headers: { "Content-Type": "text/plain", "MQ-Key": "first-1" },
    body: "hello, harbour",
  } satisfies CurlRequest,
  read: { method: "GET", path: paths.topicMessages(cluster, topic) } satisfies CurlRequest,
  receive: {
    method: "POST",
    path: paths.receive(cluster, FIRST_GROUP, topic),
    body: { max_messages: 1, wait_ms: 20_000 },
  } satisfies CurlRequest,
})
