export const resend = {
  resend: {
    open: "编辑并重发",
    title: "重发消息",
    action: "发送副本",
    target: "副本的 Topic",
    targetWords: "留空则发送到同一个 Topic；死信则发回其来源 Topic。",
    keys: "Key",
    tag: "Tag",
    body: "消息体",
    encoding: "消息体编码",
    encodings: { json: "JSON", text: "文本", base64: "Base64" },
    done: "副本已存储到 {{topic}}",
    where: "{{place}}；原消息保留不变。",
    failed: "副本未存储",
    unknown: "无法确定副本是否已存储",
    unknownNext: "重发前先按 Key 查询。",
  },
}
