export const partly = {
  partly: {
    title: "{{what}}, but not on every broker",
    did: "{{broker}} made the change",
    didNot: "{{broker}} did not: {{reason}}",
    unknown: "{{broker}} may have made the change or not: {{reason}}",
    again: "Try again on the others",
  },
}
