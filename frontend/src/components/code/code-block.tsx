import { useMemo } from "react"
import { CopyButton } from "./copy-button"
import classes from "./code.module.css"
import { curlTokens, jsonTokens } from "./tokens"

interface CodeBlockProps {
  text: string
  language?: "curl" | "json" | "plain"
  /** What is copied when it differs from what is shown. */
  copy?: string
  wrap?: boolean
  plain?: boolean
  label?: string
}

/** Code on sunken ground with a copy button; a command is always shown whole. */
export function CodeBlock({ text, language = "plain", copy = text, wrap, plain, label }: CodeBlockProps) {
  const pieces = useMemo(() => {
    if (language === "plain") return [{ text, kind: "plain" as const }]
    return language === "curl" ? curlTokens(text) : jsonTokens(text)
  }, [text, language])
  return (
    <div className={classes.block} data-wrap={wrap || language === "curl" || undefined} data-plain={plain}>
      <pre tabIndex={0} aria-label={label}>
        {pieces.map((piece, index) => (
          <span key={index} className={classes[piece.kind]}>
            {piece.text}
          </span>
        ))}
      </pre>
      <div className={classes.copy}>
        <CopyButton text={copy} />
      </div>
    </div>
  )
}
