import { useState } from "react"

/** The groups of which a user has said that they may get the copies: what holds for one target holds for no other. */
export function useKnownGroups(target: string): { known: ReadonlySet<string>; onKnown: (group: string, isKnown: boolean) => void } {
  const [ticked, setTicked] = useState<{ target: string; groups: ReadonlySet<string> }>({ target, groups: NONE })
  const known = ticked.target === target ? ticked.groups : NONE
  return {
    known,
    onKnown: (group, isKnown) => {
      const groups = new Set(known)
      if (isKnown) groups.add(group)
      else groups.delete(group)
      setTicked({ target, groups })
    },
  }
}

const NONE: ReadonlySet<string> = new Set()
