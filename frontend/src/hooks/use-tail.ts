import { useState } from "react"
import { type Sample, withSample } from "@/lib/samples"

const KEEP_MS = 15 * 60_000

interface Tail<K extends string> {
  key: string
  samples: Sample<K>[]
}

/** The live samples since the page was opened, so that a chart moves between two readings of its history. */
export function useTail<K extends string>(key: string, sample: Sample<K> | null): Sample<K>[] {
  const [tail, setTail] = useState<Tail<K>>({ key, samples: [] })
  const known = tail.key === key ? tail.samples : []
  if (sample) {
    const samples = withSample(known, sample, KEEP_MS)
    if (samples !== known || tail.key !== key) setTail({ key, samples })
  }
  return known
}
