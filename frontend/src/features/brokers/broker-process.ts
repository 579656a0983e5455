import type { BrokerSettings } from "@/lib/api-types"

/** A process that answers: one of a broker name, 0 its master. */
export interface BrokerProcess {
  name: string
  id: number
}

/** Returns the process that an address names, or else the first of the name, or of all. */
export function chosenProcess(all: readonly BrokerProcess[], name: string | undefined, id: string | undefined): BrokerProcess {
  const named = all.filter((each) => each.name === name)
  const possible = named.length > 0 ? named : all.filter((each) => each.name === all[0]?.name)
  return possible.find((each) => String(each.id) === id) ?? possible[0] ?? { name: "", id: 0 }
}

/** What the other replicas have where their setting is another one: by setting, then by replica. */
export function differences(own: BrokerSettings, all: readonly BrokerSettings[]): Map<string, [id: number, value: string][]> {
  const found = new Map<string, [number, string][]>()
  const mine = new Map(own.settings.map(({ name, value }) => [name, value]))
  for (const other of all)
    for (const { name, value } of other.settings)
      if (value !== null && mine.has(name) && mine.get(name) !== value) found.set(name, [...(found.get(name) ?? []), [other.broker_id, value]])
  return found
}
