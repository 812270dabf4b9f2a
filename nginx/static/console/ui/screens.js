// All screens: their addresses, and where the navigation lists them. A screen's module is loaded when it is first opened.
import { texts } from "../lib/texts.js"

const t = texts.shell.links
const s = texts.screens

/**
 * title: until the screen draws its own. changes: it only changes something, so a viewer may not open it.
 * @type {Array<[string, { title: string, changes?: boolean, load: () => Promise<{ default: any }> }]>}
 */
export const SCREENS = [
  ["home", { title: t.home, load: () => import("../home/home.js") }],
  ["organization", { title: t.organization, load: () => import("../organization/organization.js") }],
  ["members", { title: t.members, load: () => import("../members/list.js") }],
  ["members/:id", { title: s.member, load: () => import("../members/member.js") }],
  ["member-jobs", { title: t.memberJobs, load: () => import("../member_jobs/list.js") }],
  ["member-jobs/:id", { title: s.memberJob, load: () => import("../member_jobs/job.js") }],
  ["imports", { title: t.imports, load: () => import("../imports/list.js") }],
  ["imports/new", { title: s.importStart, changes: true, load: () => import("../imports/start.js") }],
  ["imports/:id", { title: s.import, load: () => import("../imports/job.js") }],
  ["keys", { title: t.keys, load: () => import("../keys/list.js") }],
  ["attributes", { title: t.attributes, load: () => import("../attributes/list.js") }],
  ["modules", { title: t.modules, load: () => import("../modules/list.js") }],
  ["modules/:id", { title: s.module, load: () => import("../modules/module.js") }],
  ["modules/:id/versions/new", { title: s.newVersion, changes: true, load: () => import("../modules/new_version.js") }],
  ["modules/:id/versions/:version", { title: s.version, load: () => import("../modules/version.js") }],
  ["installations", { title: t.installations, load: () => import("../installations/list.js") }],
  ["installations/:id", { title: s.installation, load: () => import("../installations/installation.js") }],
  ["webhooks", { title: t.webhooks, load: () => import("../webhooks/endpoints.js") }],
  ["webhooks/endpoints/:installation/:id", { title: s.endpoint, load: () => import("../webhooks/endpoint.js") }],
  ["webhooks/deliveries", { title: t.webhooks, load: () => import("../webhooks/deliveries.js") }],
  ["webhooks/deliveries/:installation/:endpoint/:id", { title: s.delivery, load: () => import("../webhooks/delivery.js") }],
  ["account", { title: texts.shell.account, load: () => import("../account/account.js") }],
  ["team", { title: t.team, load: () => import("../team/list.js") }],
  ["connections", { title: t.connections, load: () => import("../connections/list.js") }],
  ["articles", { title: t.articles, load: () => import("../articles/list.js") }],
  ["articles/new", { title: s.newArticle, changes: true, load: () => import("../articles/new.js") }],
  ["articles/:id", { title: s.article, load: () => import("../articles/article.js") }],
  ["ads", { title: t.ads, load: () => import("../ads/list.js") }],
  ["ads/new", { title: s.newCampaign, changes: true, load: () => import("../ads/edit.js") }],
  ["ads/:id", { title: s.campaign, load: () => import("../ads/campaign.js") }],
  ["ads/:id/edit", { title: s.editCampaign, changes: true, load: () => import("../ads/edit.js") }],
  ["slots", { title: t.slots, load: () => import("../slots/list.js") }],
  ["page-keys", { title: t.pageKeys, load: () => import("../pages/list.js") }],
  ["page-keys/:kind/:id", { title: s.pageKey, load: () => import("../pages/key.js") }],
  ["events", { title: t.events, load: () => import("../events/list.js") }],
  ["audit", { title: t.audit, load: () => import("../audit/log.js") }],
]

/** @type {Array<[string, Array<[string, string]>]>} families, each with the first part of an address and its text */
export const NAVIGATION = [
  [t.overview, [["home", t.home], ["organization", t.organization]]],
  [t.people, [["members", t.members], ["imports", t.imports], ["member-jobs", t.memberJobs], ["attributes", t.attributes]]],
  [t.data, [["connections", t.connections]]],
  [t.modulesFamily, [["modules", t.modules], ["installations", t.installations], ["webhooks", t.webhooks]]],
  [t.content, [["articles", t.articles], ["ads", t.ads], ["slots", t.slots]]],
  [t.pages, [["page-keys", t.pageKeys], ["events", t.events]]],
  [t.access, [["team", t.team], ["keys", t.keys], ["audit", t.audit]]],
]

/** The screen after the sign-in. */
export const HOME = "home"
