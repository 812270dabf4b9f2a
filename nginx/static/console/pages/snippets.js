// The code for pages (docs/engagement.md "The snippet", docs/ads.md, docs/content.md).

/** script: the address and integrity of the script. hasIntegrity: browsers accept only this version of it. */
export const trackingCode = ({ script, key, hasIntegrity }) => `<script>
window.muster = window.muster || {q: []}
muster.q.push(["page_viewed"])
</script>
<script src="${script.url}" data-key="${key}"${hasIntegrity ? `
  integrity="${script.integrity}" crossorigin` : ""} async></script>`

/** What the page's Content-Security-Policy must allow. @param {string} base */
export const policyOf = base => `script-src ${new URL(base).origin}; connect-src ${new URL(base).origin}`

export const articlesCode = ({ base, key }) => `<ul id="articles"></ul>
<script type="module">
const reply = await fetch("${base}/v1/content/articles?key=${key}&limit=10")
const {articles} = reply.ok ? await reply.json() : {articles: []}
for (const article of articles) {
  const item = document.createElement("li")
  item.textContent = article.title
  document.getElementById("articles").append(item)
}
</script>`

export const codeOfSlot = ({ base, key, slug }) => `<div id="ad-${slug}"></div>
<script type="module">
const reply = await fetch("${base}/v1/ads/serve?key=${key}&slot=${slug}")
const {ad} = reply.ok ? await reply.json() : {}
if (ad) {
  const place = document.getElementById("ad-${slug}")
  if (ad.kind == "image") {
    const image = Object.assign(new Image(ad.width, ad.height), {src: ad.image_url, alt: ad.alt ?? ""})
    place.append(Object.assign(document.createElement("a"), {href: ad.click_url}))
    place.firstChild.append(image)
  } else {
    place.innerHTML = ad.html
    for (const link of place.querySelectorAll("a")) link.href = ad.click_url
  }
  new Image().src = ad.impression_url
}
</script>`
