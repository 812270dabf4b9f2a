"""/console/v1/ads: slots, campaigns, creatives and their figures, managed by admins in the console (docs/ads.md
"Ads")."""

import uuid

import pytest
from support.ads import CONSOLE, IMAGE, LANDING, Ads, on_one_day, path_of_url
from support.client import SHOP, details_of, faults_of
from support.world import slug

KINDS = ("slots", "campaigns", "creatives")


@pytest.fixture(scope="module")
def ads(module_org):
    return Ads(module_org)


@pytest.fixture(scope="module")
def slot(ads):
    return ads.slot()


@pytest.fixture(scope="module")
def campaign(ads, slot):
    return ads.campaign(slot)


@pytest.fixture
def made(ads, slot, campaign):
    """A record of each kind, and a body for another."""
    return {"slots": (slot, {"slug": slug("slot"), "name": "n", "width": 1, "height": 1}),
            "campaigns": (campaign, {"name": "n", "slot_ids": [slot["id"]]}),
            "creatives": (ads.creative(campaign), {"campaign_id": campaign["id"], "kind": "image", "image_url": IMAGE, "width": 1,
                                                   "height": 1, "landing_url": LANDING})}


# ---------------------------------------------------------------------------- all kinds


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_is_created_read_listed_and_deleted(ads, made, kind):
    _, body = made[kind]
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    first = ads.post(kind, body, headers=headers, expect=201)
    record = first.json()
    assert first.headers["Location"] == f"{CONSOLE}/{kind}/{record['id']}"
    assert record["organization_id"] == ads.org.id and record["created_at"] == record["updated_at"]
    again = ads.post(kind, body, headers=headers, expect=201)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
    ads.post(kind, body | {"color": 1}, expect=422)
    other = body | ({"landing_url": SHOP} if kind == "creatives" else {"name": "other"})
    ads.post(kind, other, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")
    assert ads.read(kind, record) == record
    assert record in ads.listed(kind)
    ads.delete(kind, record)
    ads.read(kind, record, expect=404)
    ads.delete(kind, record, expect=404)
    ads.change(kind, record, expect=404)
    assert record not in ads.listed(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_without_an_effect_leaves_the_record_unchanged(ads, made, kind):
    record, _ = made[kind]
    assert ads.change(kind, record).json() == record
    same = {name: record[name] for name in record if name not in ("id", "organization_id", "campaign_id", "created_at", "updated_at")}
    same = {name: value for name, value in same.items() if value is not None}
    assert ads.change(kind, record, **same).json() == record
    assert faults_of(ads.change(kind, record, expect=422, id=str(uuid.uuid4()))) == {"id": "unknown_field"}


@pytest.mark.parametrize("kind", KINDS)
def test_ads_are_managed_only_by_admins_in_the_console(ads, made, kind, module_org):
    record, body = made[kind]
    path = f"{CONSOLE}/{kind}/{record['id']}"
    for origin in (SHOP, "null", None):
        ads.post(kind, body, headers={"Origin": origin}, expect=403, code="ORIGIN_NOT_ALLOWED")
        ads.admin.get(path, headers={"Origin": origin}, expect=403, code="ORIGIN_NOT_ALLOWED")
    viewer = module_org.viewer().api
    assert viewer.get_json(path) == record
    viewer.post(f"{CONSOLE}/{kind}", json=body, expect=403, code="FORBIDDEN")
    viewer.request("PATCH", path, json={}, expect=403, code="FORBIDDEN")
    viewer.delete(path, expect=403, code="FORBIDDEN")
    module_org.api.get(path, expect=403, code="FORBIDDEN")
    assert ads.read(kind, record) == record


def test_changes_are_audited(new_org):
    ads = Ads(new_org(attributes=False))
    slot, campaign = ads.running()
    creative = ads.listed("creatives")[0]
    for kind, record in (("creatives", creative), ("campaigns", campaign), ("slots", slot)):
        ads.change(kind, record, width=1) if kind != "campaigns" else ads.change(kind, record, weight=2)
        ads.delete(kind, record)
    entries = ads.admin.get_json("/v1/audit-log", params={"limit": 100})["audit_log"]
    actions = [entry["action"] for entry in entries if entry["action"].startswith("ad_")]
    assert actions[::-1] == ["ad_slot.created", "ad_campaign.created", "ad_creative.created", "ad_creative.changed", "ad_creative.deleted",
                             "ad_campaign.changed", "ad_campaign.deleted", "ad_slot.changed", "ad_slot.deleted"]


# ---------------------------------------------------------------------------- slots


def test_a_slug_is_unique_among_slots(ads, new_org):
    first, second = ads.slot(), ads.slot()
    for reply in (ads.post("slots", {"slug": first["slug"], "name": "n", "width": 1, "height": 1}),
                  ads.change("slots", second, expect=409, slug=first["slug"])):
        assert reply.status_code == 409 and reply.json()["error"]["code"] == "CONFLICT"
        assert details_of(reply) == {"field": "slug"}
    assert Ads(new_org(attributes=False)).slot(slug=first["slug"])["slug"] == first["slug"]
    changed = ads.change("slots", second, slug="other-slug", name=" Wide ", width=970, height=250).json()
    assert [changed[name] for name in ("slug", "name", "width", "height")] == ["other-slug", "Wide", 970, 250]
    assert ads.read("slots", second) == changed and changed["updated_at"] > second["updated_at"]


@pytest.mark.parametrize("body, faults", [
    ({}, {"slug": "required", "name": "required", "width": "required", "height": "required"}),
    ({"slug": "Top", "name": "", "width": 0, "height": 10_001},
     {"slug": "invalid_value", "name": "required", "width": "out_of_range", "height": "out_of_range"}),
    ({"slug": "a" * 64, "name": 1, "width": "1", "height": 1.5},
     {"slug": "too_long", "name": "wrong_type", "width": "wrong_type", "height": "wrong_type"}),
])
def test_a_faulty_slot_is_422_with_every_fault(ads, body, faults):
    assert faults_of(ads.post("slots", body, expect=422)) == faults


def test_a_slot_with_campaigns_cannot_be_deleted(ads):
    slot, other = ads.slot(), ads.slot()
    campaign = ads.campaign(slot, status="paused")
    assert "campaigns use this slot" in ads.delete("slots", slot, expect=409).json()["error"]["details"]["reason"]
    ads.change("campaigns", campaign, slot_ids=[other["id"]])
    ads.delete("slots", slot)
    ads.delete("slots", other, expect=409)


# ---------------------------------------------------------------------------- campaigns


def test_a_campaign_has_the_given_values_and_defaults(ads, slot):
    plain = ads.campaign(slot)
    assert (plain["status"], plain["weight"], plain["starts_at"]) == ("active", 1, plain["created_at"])
    assert plain["ends_at"] is plain["daily_impressions"] is plain["frequency_cap"] is None
    assert plain["targeting"] == {"countries": [], "locales": [], "tags": [], "attributes": {}}
    slots = sorted([slot["id"], ads.slot()["id"]])
    full = {"name": "Full", "slot_ids": slots, "status": "paused", "starts_at": "2030-01-01T00:00:00.000Z",
            "ends_at": "2030-02-01T00:00:00.000Z", "weight": 1000, "daily_impressions": 1_000_000_000, "frequency_cap": 1000,
            "targeting": {"countries": ["DE", "GB"], "locales": ["en", "de-AT"], "tags": ["a b", "ü"],
                          "attributes": {"interests": "news", "points": 1.5, "vip": True, "phone": "1"}}}
    made = ads.campaign(slot, **full)
    assert {name: made[name] for name in full} == full == {name: ads.read("campaigns", made)[name] for name in full}
    spaced = ads.campaign(slot, targeting={"countries": [" gb "], "attributes": {"phone": " 1 ", "points": 2}})["targeting"]
    assert (spaced["countries"], spaced["attributes"]) == (["GB"], {"phone": "1", "points": 2})
    cleared = ads.change("campaigns", made, ends_at=None, daily_impressions=None, frequency_cap=None, targeting={}).json()
    assert cleared["ends_at"] is cleared["daily_impressions"] is cleared["frequency_cap"] is None
    assert cleared["targeting"] == plain["targeting"] and cleared["starts_at"] == full["starts_at"]


FAULTY_CAMPAIGNS = [
    ({"name": None, "slot_ids": []}, {"name": "required", "slot_ids": "too_short"}),
    ({"status": "on", "weight": 0, "daily_impressions": 0, "frequency_cap": 0, "starts_at": "soon"},
     {"status": "invalid_choice", "weight": "out_of_range", "daily_impressions": "out_of_range", "frequency_cap": "out_of_range",
      "starts_at": "invalid_timestamp"}),
    ({"weight": 1001, "targeting": {"countries": ["XX", "GB", ""], "locales": ["x" * 36, ""], "tags": ["", "x" * 65], "age": 1,
                                    "attributes": []}},
     {"weight": "out_of_range", "targeting.countries[0]": "invalid_country", "targeting.countries[2]": "required",
      "targeting.locales[0]": "too_long", "targeting.locales[1]": "required", "targeting.tags[0]": "required",
      "targeting.tags[1]": "too_long", "targeting.age": "unknown_field", "targeting.attributes": "wrong_type"}),
    ({"targeting": {"tags": ["t"] * 21}}, {"targeting.tags": "too_long"}),
    ({"starts_at": "2030-01-01T00:00:00Z", "ends_at": "2030-01-01T00:00:00Z",
      "targeting": {"countries": ["GB", "gb"], "tags": ["a", "a", "b,c"],
                    "attributes": {"no_such": 1, "emergency_contact": "x", "points": "1", "interests": "golf", "vip": [True],
                                   "phone": " "}}},
     {"ends_at": "out_of_range", "targeting.countries[1]": "duplicate", "targeting.tags[1]": "duplicate",
      "targeting.tags[2]": "invalid_value",
      "targeting.attributes.no_such": "unknown_attribute", "targeting.attributes.emergency_contact": "unknown_attribute",
      "targeting.attributes.points": "invalid_value", "targeting.attributes.interests": "invalid_value",
      "targeting.attributes.vip": "wrong_type", "targeting.attributes.phone": "required"}),
]


@pytest.mark.parametrize("fields, faults", FAULTY_CAMPAIGNS)
def test_a_faulty_campaign_is_422_with_every_fault(ads, slot, campaign, fields, faults):
    assert faults_of(ads.post("campaigns", {"name": "Cup", "slot_ids": [slot["id"]]} | fields, expect=422)) == faults
    kept = {name: value for name, value in fields.items() if name != "name"}
    wanted = {path: code for path, code in faults.items() if path != "name"}
    assert faults_of(ads.change("campaigns", campaign, expect=422, **kept)) == wanted
    assert ads.read("campaigns", campaign) == campaign


def test_a_changed_end_is_compared_with_the_stored_start(ads, slot):
    campaign = ads.campaign(slot, starts_at="2030-01-01T00:00:00Z", ends_at="2030-02-01T00:00:00Z")
    for change in ({"ends_at": "2029-12-31T00:00:00Z"}, {"starts_at": "2030-02-01T00:00:00Z"}):
        assert faults_of(ads.change("campaigns", campaign, expect=422, **change)) == {"ends_at": "out_of_range"}


def test_a_slot_of_another_tenant_looks_like_an_unknown_one(ads, slot, campaign, new_org):
    theirs = Ads(new_org(attributes=False)).slot()["id"]
    messages = set()
    for stranger in (theirs, str(uuid.uuid4())):
        for reply in (ads.post("campaigns", {"name": "n", "slot_ids": [slot["id"], stranger]}, expect=422),
                      ads.change("campaigns", campaign, expect=422, slot_ids=[slot["id"], stranger])):
            assert faults_of(reply) == {"slot_ids[1]": "invalid_value"}
            messages.add(reply.text)
    assert len(messages) == 1
    assert faults_of(ads.post("campaigns", {"name": "n", "slot_ids": [slot["id"]] * 2}, expect=422)) == {"slot_ids[1]": "duplicate"}


def test_figures_cover_the_requested_days(ads, slot, campaign, stack):
    def figures_of_a_new_campaign():
        made = ads.campaign(slot)
        assert ads.days(made) == []
        today = int(stack.sql("SELECT FLOOR(UNIX_TIMESTAMP() / 86400)")[0][0])
        for ago, impressions in ((0, 5), (1, 0), (89, 7), (90, 9)):
            stack.sql("INSERT INTO ad_campaign_days (organization_id, campaign_id, day, served, impressions, clicks) "
                      "VALUES (UNHEX(REPLACE(%s, '-', '')), UNHEX(REPLACE(%s, '-', '')), %s, 9, %s, 0)",
                      ads.org.id, made["id"], today - ago, impressions)
        return [[day["impressions"] for day in ads.days(made, **params)] for params in ({}, {"days": 366}, {"days": 1})]

    assert on_one_day(figures_of_a_new_campaign) == [[7, 5], [9, 7, 5], [5]]
    path = f"{CONSOLE}/campaigns/{campaign['id']}/stats"
    for days in (0, 367):
        assert faults_of(ads.admin.get(path, params={"days": days}, expect=422)) == {"days": "out_of_range"}
    ads.admin.get(f"{CONSOLE}/campaigns/{uuid.uuid4()}/stats", expect=404)


# ---------------------------------------------------------------------------- creatives


def test_html_is_sanitized_when_it_is_stored(ads, campaign):
    made = ads.creative(campaign, kind="html", image_url=None, html="<b>Now</b>\n<script>alert(1)</script><img src=x onerror=alert(1)>")
    assert "<b>Now</b>" in made["html"] and not any(word in made["html"] for word in ("script", "onerror", "alert"))
    assert ads.read("creatives", made) == made
    changed = ads.change("creatives", made, html='<a href="javascript:alert(1)">x</a>').json()
    assert "javascript" not in changed["html"]
    reply = ads.change("creatives", made, expect=422, html="<script>alert(1)</script>")
    assert faults_of(reply) == {"html": "invalid_value"}
    image = ads.change("creatives", made, kind="image", html=None, image_url=IMAGE, alt=None).json()
    assert (image["kind"], image["html"], image["image_url"], image["alt"]) == ("image", None, IMAGE, None)


FAULTY_CREATIVES = [
    ({"kind": "video", "width": 0, "landing_url": ""}, {"kind": "invalid_choice", "width": "out_of_range", "landing_url": "required"}),
    ({"image_url": None}, {"image_url": "required"}),
    ({"kind": "html"}, {"image_url": "invalid_value", "html": "required"}),
    ({"html": "<b>x</b>"}, {"html": "invalid_value"}),
    ({"image_url": "http://img.example/a.png", "alt": "x" * 256}, {"image_url": "invalid_url", "alt": "too_long"}),
    ({"image_url": "https://" + "a" * 2048}, {"image_url": "too_long"}),
    *[({"landing_url": url}, {"landing_url": "invalid_url"}) for url in (
        "shop.example", "//shop.example", "javascript:alert(1)", "ftp://shop.example/", "https://", "https://ann:pw@shop.example/",
        "https://shop.example/a b", "https://shop.example/\u00e4", "https://good.example\\@evil.test/", "data:text/html,x")],
]


@pytest.mark.parametrize("fields, faults", FAULTY_CREATIVES)
def test_a_faulty_creative_is_422_with_every_fault(ads, campaign, fields, faults):
    body = {"campaign_id": campaign["id"], "kind": "image", "image_url": IMAGE, "width": 1, "height": 1, "landing_url": LANDING}
    body = {name: value for name, value in (body | fields).items() if value is not None}
    assert faults_of(ads.post("creatives", body, expect=422)) == faults
    creative = ads.creative(campaign)
    assert faults_of(ads.change("creatives", creative, expect=422, **fields)) == faults
    ads.delete("creatives", creative)


def test_a_campaign_of_another_tenant_looks_like_an_unknown_one(ads, new_org):
    _, theirs = Ads(new_org(attributes=False)).running()
    body = {"kind": "html", "image_url": IMAGE, "width": 1, "height": 1, "landing_url": LANDING}
    replies = [ads.post("creatives", body | {"campaign_id": campaign}, expect=422) for campaign in (theirs["id"], str(uuid.uuid4()))]
    assert replies[0].content == replies[1].content
    assert faults_of(replies[0]) == {"campaign_id": "invalid_value", "image_url": "invalid_value", "html": "required"}
    lists = [ads.listed("creatives", campaign_id=campaign) for campaign in (theirs["id"], str(uuid.uuid4()))]
    assert lists == [[], []]
    assert faults_of(ads.admin.get(f"{CONSOLE}/creatives", params={"campaign_id": "7"}, expect=422)) == {"campaign_id": "invalid_uuid"}


# ---------------------------------------------------------------------------- limits


def test_a_page_of_creatives_ends_above_a_mebibyte_of_html(ads):
    campaign = ads.campaign(ads.slot())
    html = "x" * (64 << 10)
    made = [ads.creative(campaign, kind="html", html=html, image_url=None)["id"] for _ in range(18)]
    pages, cursor = [], {}
    while cursor is not None:
        page = ads.admin.get_json(f"{CONSOLE}/creatives", params={"campaign_id": campaign["id"], "limit": 100, **cursor})
        pages.append([creative["id"] for creative in page["creatives"]])
        cursor = page["next_cursor"] and {"cursor": page["next_cursor"]}
    assert [len(page) for page in pages] == [17, 1] and pages[0] + pages[1] == made


def test_the_number_of_records_is_limited(new_org, stack):
    ads = Ads(new_org(attributes=False))
    slot, campaign = ads.running()
    for _ in range(19):
        ads.creative(campaign)
    assert ads.creative(campaign, expect=409)["error"]["details"]["reason"] == "a campaign has at most 20 creatives; delete one first"
    copied = "SELECT organization_id, UNHEX(REPLACE(UUID(), '-', '')), "
    fill = "FROM {} JOIN (SELECT 1 FROM information_schema.columns LIMIT {}) AS many WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))"
    stack.sql(f"INSERT INTO ad_slots {copied} CONCAT('s', UUID_SHORT()), name, width, height, 0, 0 " + fill.format("ad_slots", 199), ads.org.id)
    assert ads.slot(expect=409)["error"]["details"]["reason"] == "an organization has at most 200 ad slots; delete one first"
    stack.sql("INSERT INTO ad_campaigns (organization_id, id, name, status, starts_at, weight, targeting, created_at, updated_at) "
              f"{copied} name, status, starts_at, weight, targeting, 0, 0 " + fill.format("ad_campaigns", 499), ads.org.id)
    assert ads.campaign(slot, expect=409)["error"]["details"]["reason"] == "an organization has at most 500 campaigns; delete one first"
    stack.sql("INSERT INTO ad_campaign_slots (organization_id, slot_id, campaign_id) SELECT organization_id, UNHEX(REPLACE(%s, '-', '')), id "
              "FROM ad_campaigns WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) AND created_at = 0 LIMIT 99", slot["id"], ads.org.id)
    other = next(record for record in ads.admin.get_json(f"{CONSOLE}/slots")["slots"] if record["id"] != slot["id"])
    moved = ads.change("campaigns", campaign, slot_ids=[other["id"]]).json()
    stack.sql("INSERT INTO ad_campaign_slots (organization_id, slot_id, campaign_id) SELECT organization_id, UNHEX(REPLACE(%s, '-', '')), id "
              "FROM ad_campaigns c WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) AND created_at = 0 "
              "AND id NOT IN (SELECT campaign_id FROM ad_campaign_slots) LIMIT 1", slot["id"], ads.org.id)
    reply = ads.change("campaigns", moved, expect=409, slot_ids=[slot["id"]])
    assert reply.json()["error"]["details"]["reason"].startswith("a slot has at most 100 campaigns; remove one from slot ")


# ---------------------------------------------------------------------------- figures


def test_the_figures_of_all_campaigns_come_in_one_call(new_org):
    def figures_of_a_new_organization():
        ads = Ads(new_org(attributes=False))
        slot, shown = ads.running(daily_impressions=1000)
        ad = ads.serve(slot)
        assert ads.org.page_api.get(path_of_url(ad["impression_url"]), key=None).status_code == 200
        empty = ads.campaign(slot, status="paused")
        return ads, shown, empty, *ads.admin.get_json(f"{CONSOLE}/figures", params={"days": 3})["campaigns"]

    ads, shown, empty, first, second = on_one_day(figures_of_a_new_organization)
    assert first["campaign_id"] == shown["id"] and first["not_shown_because"] == []
    assert (first["served_today"], first["impressions"], first["clicks"], first["slots_without_creative"]) == (1, 1, 0, 0)
    assert [day["impressions"] for day in first["days"]] == [0, 0, 1]
    assert second == {
        "campaign_id": empty["id"], "name": "Cup", "status": "paused", "daily_impressions": None, "served_today": None,
        "impressions": 0, "clicks": 0, "slots_without_creative": 1, "not_shown_because": ["paused", "no_creative"],
        "days": [{"date": day["date"], "impressions": 0, "clicks": 0} for day in first["days"]]}
    page = ads.admin.get_json(f"{CONSOLE}/figures", params={"limit": 1})
    assert len(page["campaigns"][0]["days"]) == 7
    rest = ads.admin.get_json(f"{CONSOLE}/figures", params={"limit": 1, "cursor": page["next_cursor"]})
    assert rest["campaigns"][0]["campaign_id"] == empty["id"] and rest["next_cursor"] is None
    assert faults_of(ads.admin.get(f"{CONSOLE}/figures", params={"days": 32}, expect=422)) == {"days": "out_of_range"}
