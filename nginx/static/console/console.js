// See index.html: shows "#/connections?result=…&reason=…&connection=…" as a sentence. The address only selects one of the
// sentences here. It is never shown itself, because anyone can create a link to this page.
(() => {
  const results = new Map([
    ["connected", "The provider is connected."],
    ["denied", "The provider was not connected: access was denied on its page."],
    ["failed", "The provider was not connected."],
  ])
  const reasons = new Map([
    ["request", "The provider's answer could not be read. Connect it again."],
    ["state", "This link was used before, or was not created here. Check the connection, and connect it again if necessary."],
    ["expired", "Connecting took more than ten minutes. Connect it again."],
    ["removed", "The connection was deleted in the meantime."],
    ["browser", "Another browser started this. Connect it again, and use the same browser throughout."],
    ["session", "Your session ended in the meantime. Sign in, and connect it again."],
    ["role", "You may not connect providers for this organization any longer. Ask one of its admins."],
    ["issuer", "The answer came from a server that does not belong to the provider. Connect it again; if it fails again, inform the operator."],
    ["provider", "The provider answered with an error, which the connection shows. Connect it again."],
    ["refused", "The provider rejected its own authorization code. Connect it again."],
    ["configuration", "The provider does not accept this installation. Ask the operator."],
    ["unavailable", "The provider could not be reached. Connect it again later."],
  ])
  const nothing = "No provider was connected just now."

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
