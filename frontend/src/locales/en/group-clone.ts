export const groupClone = {
  groupClone: {
    open: "Clone group",
    title: "Clone group {{source}}",
    action: "Clone to {{group}}",
    words: "The new group gets the settings of {{source}}. Retries and dead letters are not copied.",
    offsets: "Begin where {{source}} is",
    offsetsWords: "Otherwise its first client decides where it begins.",
    done: "Group {{group}} was cloned from {{source}}",
    notDone: "Group {{source}} was not cloned",
    notAllOffsets: "Group {{group}} was made, but not all of its positions",
    topicStuck: "{{topic}}: {{copied}} of {{queues}} queues were copied. {{reason}}",
    brokerSilent: "{{broker}} did not tell the positions: {{reason}}",
  },
}
