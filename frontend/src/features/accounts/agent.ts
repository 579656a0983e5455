/** Names in a user agent, the telling ones first: many browsers name those that they descend from, too. */
const BROWSERS = [
  ["Edge", /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ["Opera", /\bOPR\/(\d+)/],
  ["Samsung Internet", /\bSamsungBrowser\/(\d+)/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/(\d+)/],
  ["Chrome", /\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/],
  ["Safari", /\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//],
] as const

const SYSTEMS = [
  ["Android", /\bAndroid\b/],
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac(?:intosh| OS X)\b/],
  ["Linux", /\bLinux\b/],
] as const

/** Browser and system of a user agent in short: `Chrome 131 · Linux`; of a program its own first word, such as `curl/8.5.0`. */
export function shortAgent(agent: string): string {
  const known = BROWSERS.flatMap(([name, pattern]) => {
    const version = pattern.exec(agent)?.[1]
    return version === undefined ? [] : [`${name} ${version}`]
  })[0]
  const system = SYSTEMS.find(([, pattern]) => pattern.test(agent))?.[0]
  const words = [known, system].filter((word) => word !== undefined)
  return words.length > 0 ? words.join(" · ") : (agent.split(" ")[0] ?? agent)
}
