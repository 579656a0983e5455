export const compareFields = {
  compareFields: {
    sql: "SQL",
    keyLeft: "Key on the left",
    keyRight: "Key on the right",
    whereLeft: "Condition on the left",
    whereRight: "Condition on the right",
    fields: "Compared fields",
    fieldsWords: "none finds only missing and surplus messages",
    names: { body: "Body", tag: "Tag", keys: "Keys", properties: "Properties" },
    noneWords: "nothing: only missing and surplus messages are found",
    values: "Compared values",
    valuesWords: "one a line: name: left SQL | right SQL | tolerance; one SQL for both sides",
    order: "Compare the order of each key's messages",
    multiset: "Count how often a message occurs",
    lateness: "Late by at most, seconds",
    latenessWords: "a partner that may still come is late, not missing",
  },
}
