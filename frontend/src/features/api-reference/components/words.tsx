/** A text of the document: what stands between backticks is code, the rest is as it was written. */
export const Words = ({ of }: { of: string }) =>
  // The parts of a text have no names of their own, and the text never changes.
  of.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
