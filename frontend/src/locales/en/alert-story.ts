export const alertStory = {
  alertStory: {
    pending: "{{metric}}: {{subject}} in {{cluster}} is at {{value}}, the limit is {{limit}}. It fires if that lasts.",
    firing: "{{metric}}: {{subject}} in {{cluster}} is at {{value}}, the limit is {{limit}}.",
    no_data: "{{metric}}: nothing is known of {{subject}} in {{cluster}}. The limit is {{limit}}.",
    acknowledged: "{{metric}}: {{subject}} in {{cluster}} is at {{value}}, the limit is {{limit}}. {{by}} takes care of it.",
    silenced: "{{metric}}: {{subject}} in {{cluster}} is at {{value}}, the limit is {{limit}}. Nobody is told.",
    resolved: "{{metric}}: {{subject}} in {{cluster}} keeps to the limit of {{limit}} again.",
    unknownValue: "an unknown value",
    silent: "{{subject}} in {{cluster}} does not answer.",
    underMinute: "less than a minute",
    taken: "The alert was acknowledged",
    takenBack: "The acknowledgement was taken back",
    notTaken: "The alert was not acknowledged",
    notTakenBack: "The acknowledgement was not taken back",
  },
}
