// See index.html: "#/connections?result=…&reason=…&connection=…" as a sentence. What stands in the address chooses among
// the sentences here and is never shown itself: anybody can make a link to this page.
(() => {
  const results = new Map([
    ["connected", "The provider is connected."],
    ["denied", "Access was denied on the provider's page: nothing was connected."],
    ["failed", "The provider was not connected."],
  ])
  const reasons = new Map([
    ["request", "The provider's answer could not be read. Connect it again."],
    ["state", "This way to the provider was gone before, or never began here. See how the connection stands, and connect it again if need be."],
    ["expired", "It took more than ten minutes. Connect it again."],
    ["removed", "The connection was deleted meanwhile."],
    ["browser", "Another browser came back than the one that set out. Connect it again, and stay in one browser."],
    ["session", "Your session ended on the way. Sign in, and connect it again."],
    ["role", "You may not connect providers for this organization any more. Ask one of its admins."],
    ["issuer", "Another server than the provider's answered. Connect it again; if that stays, tell the operator."],
    ["provider", "The provider answered with an error. Connect it again; the connection says more."],
    ["refused", "The provider did not grant access for its own answer. Connect it again."],
    ["configuration", "The provider does not accept this installation. Ask the operator."],
    ["unavailable", "The provider could not be reached. Connect it again in a while."],
  ])
  const nothing = "Nothing was just connected."

  const show = () => {
    const [page, query] = location.hash.slice(1).split("?", 2)
    const said = new URLSearchParams(page === "/connections" ? query : "")
    const result = document.getElementById("result")
    const sentence = results.get(said.get("result"))
    result.dataset.result = sentence ? said.get("result") : "none"
    result.textContent = sentence ?? nothing
    const advice = sentence && said.get("result") === "failed" ? reasons.get(said.get("reason")) : ""
    document.getElementById("advice").textContent = advice ?? ""
    document.title = `Muster: ${result.textContent}`
    if (sentence) result.focus()
  }

  addEventListener("hashchange", show)
  show()
})()
