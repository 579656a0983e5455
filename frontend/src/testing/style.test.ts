import { expect, it } from "vitest"
import { jsdomStyle, ownStyle } from "./style"

it("answers what jsdom answers", () => {
  // Beside what is there: the popups of other tests have their place in the body.
  const samples = document.body.appendChild(document.createElement("main"))
  samples.innerHTML = `
    <div style="visibility: hidden; pointer-events: none"><span>in</span><p style="visibility: visible">out</p><b style="pointer-events: inherit"></b></div>
    <div hidden><i></i></div><div style="display: none"></div><span style="display: flex"></span><section hidden style="display: grid"></section>
    <input type="hidden"><input type="text"><button></button><template></template><script type="x"></script><style></style>
    <dialog></dialog><dialog open></dialog><details open></details><div popover></div>
    <table><tbody><tr><th></th></tr></tbody></table><ul><li></li></ul><svg><g></g></svg>`
  for (const each of samples.querySelectorAll("*"))
    for (const name of ["display", "visibility", "pointer-events"]) {
      const told = jsdomStyle(each).getPropertyValue(name)
      expect(ownStyle(each).getPropertyValue(name), `${name} of ${each.outerHTML}`).toBe(told)
    }
  samples.remove()
})
