import { addressOf, type Call } from "./request"

export const LANGUAGES = ["curl", "python", "javascript", "java"] as const
export type SnippetLanguage = (typeof LANGUAGES)[number]

/** The call as a program of one's own would make it; the token comes from the environment and is never printed. */
export function snippetOf(language: SnippetLanguage, call: Call): string {
  return { curl, python, javascript, java }[language](call)
}

const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const quoted = (text: string) => JSON.stringify(text)

function curl(call: Call): string {
  const lines = [
    `curl -X ${call.method} ${shellQuoted(addressOf(call))}`,
    '-H "Authorization: Bearer $GANTRY_TOKEN"',
    ...Object.entries(call.headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(call.body === null ? [] : [`--data-binary ${shellQuoted(call.body)}`]),
  ]
  return lines.join(" \\\n  ")
}

function python(call: Call): string {
  const headers = Object.entries(call.headers).map(([name, value]) => `        ${quoted(name)}: ${quoted(value)},\n`)
  return [
    "import os\n\nimport httpx\n",
    "answer = httpx.request(",
    `    ${quoted(call.method)},`,
    `    ${quoted(addressOf(call))},`,
    `    headers={\n        "Authorization": f"Bearer {os.environ['GANTRY_TOKEN']}",\n${headers.join("")}    },`,
    ...(call.body === null ? [] : [`    content=${quoted(call.body)},`]),
    ")",
    "answer.raise_for_status()",
    "print(answer.text)",
  ].join("\n")
}

function javascript(call: Call): string {
  const headers = Object.entries(call.headers).map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},\n`)
  return [
    `const answer = await fetch(${quoted(addressOf(call))}, {`,
    `  method: ${quoted(call.method)},`,
    `  headers: {\n    Authorization: \`Bearer \${process.env.GANTRY_TOKEN}\`,\n${headers.join("")}  },`,
    ...(call.body === null ? [] : [`  body: ${quoted(call.body)},`]),
    "})",
    "if (!answer.ok) throw new Error(await answer.text())",
    "console.log(await answer.text())",
  ].join("\n")
}

function java(call: Call): string {
  const headers = Object.entries(call.headers).map(([name, value]) => `    .header(${quoted(name)}, ${quoted(value)})`)
  const body = call.body === null ? "BodyPublishers.noBody()" : `BodyPublishers.ofString(${quoted(call.body)})`
  return [
    "import java.net.URI;",
    "import java.net.http.HttpClient;",
    "import java.net.http.HttpRequest;",
    "import java.net.http.HttpRequest.BodyPublishers;",
    "import java.net.http.HttpResponse.BodyHandlers;\n",
    `var request = HttpRequest.newBuilder(URI.create(${quoted(addressOf(call))}))`,
    '    .header("Authorization", "Bearer " + System.getenv("GANTRY_TOKEN"))',
    ...headers,
    `    .method(${quoted(call.method)}, ${body})`,
    "    .build();",
    "var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());",
    'if (answer.statusCode() >= 400) throw new IllegalStateException(answer.body());',
    "System.out.println(answer.body());",
  ].join("\n")
}
