export const jobPages = {
  jobPages: {
    topic: "Topic（完整名称）",
    group: "消费组（完整名称）",
    by: "发起人（用户名）",
    ofSchedule: "它的全部任务",
    schedule: "定时任务",
    anySchedule: "任意定时任务",
    from: "创建时间从",
    to: "创建时间早于",
    more_other: "更多筛选（已设 {{count}} 项）",
    moreNone: "更多筛选",
    fewer: "收起筛选",
    noMatchNext: "放宽筛选条件，或显示全部。",
    showAll: "显示全部",
  },
}
