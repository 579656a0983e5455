import type { leaving as en } from "../en/leaving"

export const leaving: typeof en = {
  leaving: {
    title: "关闭此表单？",
    filled: "已填写的内容尚未提交，关闭后会丢失。",
    answered: "这里的内容只在此刻显示。",
    leave: "关闭",
    stay: "返回表单",
  },
}
