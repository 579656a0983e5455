export const resend = {
  resend: {
    open: "Edit and send again",
    title: "Send the message again",
    action: "Send a copy",
    target: "Topic of the copy",
    targetWords: "Empty: the same topic; for a dead letter the one it came from.",
    keys: "Keys",
    tag: "Tag",
    body: "Body",
    encoding: "Encoding of the body",
    encodings: { json: "JSON", text: "Text", base64: "Base64" },
    done: "A copy was stored in {{topic}}",
    where: "{{place}}; the original stays.",
    failed: "The copy was not stored",
    unknown: "It is not known whether the copy was stored",
    unknownNext: "Search its key before sending again.",
  },
}
