import { useEffect, useRef, useState } from "react"
import { asProblem, Problem } from "@/lib/problem"
import { produce, useProducedTo } from "./api/produce"
import type { SendOutcome, SentMessage } from "./components/produce-results"
import { requestText } from "./produce-draft"

const IN_ONE_REQUEST = 100
const SHOWN = 20
const STEPS_A_SECOND = 5

export interface Sending {
  total: number
  /** Messages whose end is known. */
  stored: number
  failed: number
  unknown: number
  startedAt: number
  endedAt: number | null
}

/** Whether the messages may have been stored all the same: the broker, or the gateway, took them and did not answer. */
export const isUnsure = ({ status }: Problem): boolean => status === 504 || status === 0

/** Sends messages a hundred at a time, at a pace, until all are sent, one request fails or somebody stops it. */
export function useSending(cluster: string, topic: string) {
  const [sending, setSending] = useState<Sending | null>(null)
  const [sent, setSent] = useState<SentMessage[]>([])
  const stopped = useRef(false)
  const next = useRef(0)
  const producedTo = useProducedTo(cluster, topic)
  useEffect(() => () => void (stopped.current = true), [])

  const note = (outcomes: SendOutcome[], elapsedMs: number) => {
    const rows = outcomes.slice(-SHOWN).map((outcome) => ({ ...outcome, id: next.current++, elapsedMs }))
    setSent((known) => [...rows.reverse(), ...known].slice(0, SHOWN))
    setSending((now) => now && counted(now, outcomes))
  }
  const sendSome = async (some: readonly string[]): Promise<Problem | null> => {
    const startedAt = performance.now()
    const elapsed = () => Math.round(performance.now() - startedAt)
    try {
      const { results } = await produce(cluster, topic, requestText(some))
      note(results.map(({ problem, ...rest }) => ({ ...rest, problem: problem ? new Problem(500, problem) : null })), elapsed())
      return null
    } catch (error) {
      const problem = asProblem(error)
      const outcome: SendOutcome = isUnsure(problem) ? { status: "unknown", problem: null } : { status: "failed", problem }
      note(some.map(() => outcome), elapsed())
      return problem
    }
  }
  /** Returns the problem of the request that ended it, if one did. */
  const send = async (messages: readonly string[], perSecond: number | undefined): Promise<Problem | null> => {
    stopped.current = false
    const startedAt = Date.now()
    setSending({ total: messages.length, stored: 0, failed: 0, unknown: 0, startedAt, endedAt: null })
    const step = perSecond === undefined ? IN_ONE_REQUEST : Math.min(IN_ONE_REQUEST, Math.max(1, Math.ceil(perSecond / STEPS_A_SECOND)))
    let problem: Problem | null = null
    for (let at = 0; at < messages.length && !stopped.current && problem === null; at += step) {
      if (perSecond !== undefined) await until(startedAt + (at / perSecond) * 1_000)
      if (!stopped.current) problem = await sendSome(messages.slice(at, at + step))
    }
    setSending((now) => now && { ...now, endedAt: Date.now() })
    await producedTo()
    return problem
  }
  return { sending, sent, send, stop: () => void (stopped.current = true) }
}

function counted(now: Sending, outcomes: readonly SendOutcome[]): Sending {
  const of = (...statuses: SendOutcome["status"][]) => outcomes.filter(({ status }) => statuses.includes(status)).length
  return {
    ...now,
    stored: now.stored + of("stored", "stored_not_flushed"),
    failed: now.failed + of("failed"),
    unknown: now.unknown + of("unknown"),
  }
}

const until = (time: number) => new Promise((done) => setTimeout(done, Math.max(0, time - Date.now())))
