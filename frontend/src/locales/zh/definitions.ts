export const definitions = {
  definitions: {
    title: "定义",
    personal: "个人",
    export: "导出定义",
    exportNote: "将 Topic、消费组、角色、定时任务和告警规则保存为一个文件",
    scope: "Topic 和消费组的范围",
    everyCluster: "所有集群",
    thisCluster: "仅 {{cluster}}",
    save: "保存为文件",
    notSaved: "无法读取定义",
    saved: "文件包含 {{topics}} 个 Topic、{{groups}} 个消费组、{{roles}} 个角色、{{schedules}} 个定时任务和 {{alert_rules}} 条告警规则。",
    sections: { topics: "Topic", groups: "消费组", roles: "角色", schedules: "定时任务", alert_rules: "告警规则" },
    remarks: {
      not_allowed: "未导出：当前账号无权读取",
      unreachable: "未导出：{{reason}}",
      broker_missing: "仅存在于该 Broker 的内容未导出：{{reason}}",
      no_settings: "未导出：该消费组没有自己的配置",
      brokers_differ: "各 Broker 配置不一致；文件取最大队列数和最宽权限，或其中一个 Broker 的配置",
      ordered: "Broker 将其标记为顺序 Topic，文件不包含该标记",
    },
    moreRemarks_other: "文件中还有 {{count}} 条备注",
  },
}
