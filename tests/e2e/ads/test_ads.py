"""/v1/ads: which ad a page gets, caps and budgets, and redemptions that count once and redirect only to the stored page
(docs/ads.md "Ads"). For the console see test_ads_console.py."""

import base64
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.ads import IMAGE, LANDING, Ads, path_of_url
from support.client import PageClient, faults_of
from support.stack import wait_for
from support.world import email, in_seconds

DAY = 24 * 3600
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAAAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")


@pytest.fixture(scope="module")
def ads(module_org):
    return Ads(module_org)


def impress(anyone, ad, expect=200, method="GET", **options):
    return anyone.request(method, path_of_url(ad["impression_url"]), expect=expect, **options)


def click(anyone, ad, expect=302, method="GET", **options):
    return anyone.request(method, path_of_url(ad["click_url"]), expect=expect, allow_redirects=False, **options)


# ---------------------------------------------------------------------------- serving


def test_a_slot_shows_the_matching_ad(ads, stack):
    slot, campaign = ads.running()
    answer = ads.ask(slot).json()
    assert answer["slot"] == slot["slug"]
    ad = answer["ad"]
    creative = ads.listed("creatives", campaign_id=campaign["id"])[0]
    shown = {name: creative[name] for name in ("id", "kind", "image_url", "html", "alt", "width", "height")}
    assert {name: ad[name] for name in shown} == shown
    assert ad["click_url"].startswith(stack.base_url + "/v1/ads/clicks/")
    assert ad["impression_url"].startswith(stack.base_url + "/v1/ads/impressions/")
    assert LANDING not in str(answer)


def test_html_is_served_sanitized(ads):
    html = '<p onclick="steal()">Now<script>steal()</script> <a href="https://shop.example/">on</a><a href="javascript:steal()">!</a></p>'
    slot, _ = ads.running(creative={"kind": "html", "html": html, "image_url": None})
    ad = ads.serve(slot)
    assert ad["kind"] == "html" and ad["image_url"] is None
    assert "Now" in ad["html"] and "on</a>" in ad["html"]
    assert not any(word in ad["html"] for word in ("script", "steal", "onclick"))


def test_no_matching_ad_is_not_an_error_and_an_unknown_slot_is_404(ads, new_org):
    slot = ads.slot()
    assert ads.ask(slot).json() == {"slot": slot["slug"], "ad": None}
    ads.campaign(slot)  # without a creative
    wrong_size = ads.campaign(slot)
    ads.creative(wrong_size, width=300)
    assert ads.serve(slot) is None
    ads.org.page_api.get("/v1/ads/serve", params={"slot": "no-such-slot"}, expect=404)
    stranger = Ads(new_org(attributes=False))
    stranger.ask(slot, expect=404)


@pytest.mark.parametrize("params, faults", [
    ({}, {"slot": "required"}), ({"slot": ""}, {"slot": "required"}),
    ({"user_id": "7", "tags": ",".join(["t"] * 21), "locale": "x" * 36},
     {"slot": "required", "user_id": "invalid_uuid", "tags": "too_long", "locale": "too_long"}),
    ({"slot": "top", "tags": "x" * 65}, {"tags": "too_long"}), ({"slot": "top", "color": "red"}, {"color": "unknown_field"}),
])
def test_a_faulty_query_is_422_with_every_fault(module_org, params, faults):
    assert faults_of(module_org.page_api.get("/v1/ads/serve", params=params, expect=422)) == faults


def test_a_foreign_page_and_a_key_of_another_kind_get_no_ad(ads, module_org):
    slot, _ = ads.running()
    for origin in ("https://evil.test", "null", None):
        module_org.page_api.get("/v1/ads/serve", params={"slot": slot["slug"]}, headers={"Origin": origin}, expect=403,
                                code="ORIGIN_NOT_ALLOWED")
    module_org.reader_api.get("/v1/ads/serve", params={"slot": slot["slug"]}, expect=403, code="FORBIDDEN")
    module_org.page_api.get("/v1/ads/serve", params={"slot": slot["slug"]}, key=None, expect=401)


def test_targeting_selects_the_visitors_of_an_ad(ads, module_org):
    ann = module_org.create_user({"email": email(), "country": "DE", "locale": "de-AT",
                                  "attributes": {"vip": True, "points": 7, "interests": ["news", "offers"]}})
    bob = module_org.create_user({"email": email(), "country": "GB", "locale": "en"})

    def is_shown(targeting, **params):
        slot, _ = ads.running(targeting=targeting)
        return ads.serve(slot, **params) is not None

    for targeting in ({"countries": ["DE", "FR"]}, {"locales": ["de"]}, {"attributes": {"vip": True}},
                      {"attributes": {"points": 7.0, "interests": "offers"}},
                      {"countries": ["DE"], "locales": ["de-AT"], "attributes": {"vip": True}}):
        assert is_shown(targeting, user_id=ann["id"]), targeting
        assert not is_shown(targeting, user_id=bob["id"]), targeting
        assert not is_shown(targeting), targeting
    assert is_shown({"locales": ["de"]}, locale="de") and is_shown({"locales": ["de"]}, user_id=bob["id"], locale="de-DE")
    assert not is_shown({"locales": ["de"]}, user_id=ann["id"], locale="en")
    assert is_shown({"tags": ["cup", "final"]}, tags="news, final") and not is_shown({"tags": ["cup"]}, tags="cups")
    for page in ("f\u00eate", "fe\u0302te"):  # as macOS writes it
        assert is_shown({"tags": ["fe\u0302te"]}, tags=f"x,{page}") and is_shown({"tags": ["f\u00eate"]}, tags=page)


def test_a_user_of_another_tenant_is_treated_as_an_unknown_visitor(ads, new_org):
    theirs = new_org().create_user({"email": email(), "country": "DE", "attributes": {"vip": True}})
    everybody, _ = ads.running(frequency_cap=1)
    members, _ = ads.running(targeting={"attributes": {"vip": True}})
    for user_id in (theirs["id"], str(uuid.uuid4())):
        assert [ads.serve(everybody, user_id=user_id) is not None for _ in range(3)] == [True] * 3
        assert ads.serve(members, user_id=user_id) is None


# ---------------------------------------------------------------------------- frequency


def test_a_capped_campaign_is_shown_three_times_to_32_parallel_requests(ads, module_org):
    slot, _ = ads.running(frequency_cap=3)
    ann = module_org.create_user({"email": email()})["id"]
    with ThreadPoolExecutor(32) as pool:
        shown = list(pool.map(lambda _: ads.serve(slot, user_id=ann), range(32)))
    assert sum(ad is not None for ad in shown) == 3
    assert len({ad["impression_url"] for ad in shown if ad}) == 3
    assert ads.serve(slot, user_id=module_org.create_user({"email": email()})["id"]) is not None


def test_a_budget_is_not_exceeded_by_parallel_requests(ads):
    # The campaign runs only for a short time today, and most of it is over, so the whole budget may be spent.
    slot, campaign = ads.running(starts_at=in_seconds(-1800), ends_at=in_seconds(60), daily_impressions=5)
    with ThreadPoolExecutor(32) as pool:
        shown = list(pool.map(lambda _: ads.serve(slot), range(32)))
    assert 1 <= sum(ad is not None for ad in shown) <= 5
    assert campaign["daily_impressions"] == 5
    if in_seconds(-1800)[:10] == in_seconds(60)[:10]:  # not around midnight
        assert sum(ad is not None for ad in shown) == 5


def test_weights_determine_the_frequency(ads):
    slot = ads.slot()
    _, rare = ads.running(slot, creative={"alt": "rare"})
    _, common = ads.running(slot, creative={"alt": "common"}, weight=1000)
    alts = [ads.serve(slot)["alt"] for _ in range(60)]
    assert alts.count("common") > 50  # 60 expected minus 0.06
    assert (rare["weight"], common["weight"]) == (1, 1000)


def test_a_campaign_runs_within_its_period(ads, stack):
    slot, _ = ads.running(starts_at=in_seconds(DAY), ends_at=in_seconds(2 * DAY))
    assert ads.serve(slot) is None
    with stack.later(3 * DAY // 2):
        assert ads.serve(slot) is not None
    with stack.later(2 * DAY + 60):
        assert ads.serve(slot) is None


def test_a_pause_applies_on_every_worker_within_a_second(ads):
    slot, campaign = ads.running()
    assert {ads.serve(slot) is not None for _ in range(32)} == {True}  # every worker has cached it
    assert ads.change("campaigns", campaign, status="paused").json()["status"] == "paused"
    began = last = time.monotonic()

    def is_paused():
        nonlocal last
        for _ in range(32):
            asked = time.monotonic()
            if ads.serve(slot) is not None:
                last = asked
                return False
        return True

    wait_for(is_paused, "all workers to notice", 5)
    assert last - began < 3
    ads.change("campaigns", campaign, status="active")
    wait_for(lambda: ads.serve(slot) is not None, "a worker to show it again", 5)


# ---------------------------------------------------------------------------- redemptions


def test_an_impression_and_a_click_count_once(ads, anyone):
    slot, campaign = ads.running()
    ad = ads.serve(slot)
    assert ads.counted(campaign) == (0, 0)
    began = in_seconds(0)[:10]
    pixel = impress(anyone, ad)
    assert pixel.content == GIF and pixel.headers["Content-Type"] == "image/gif"
    assert click(anyone, ad).headers["Location"] == LANDING
    assert ads.counted(campaign) == (1, 1)
    assert {day["date"] for day in ads.days(campaign)} <= {began, in_seconds(0)[:10]}  # two days around midnight
    for _ in range(2):
        assert impress(anyone, ad).content == GIF and click(anyone, ad).headers["Location"] == LANDING
    assert ads.counted(campaign) == (1, 1)
    impress(anyone, ads.serve(slot))
    assert ads.counted(campaign) == (2, 1)


def test_32_parallel_redemptions_of_one_token_count_one(ads, anyone):
    slot, campaign = ads.running()
    ad = ads.serve(slot)
    with ThreadPoolExecutor(32) as pool:
        list(pool.map(lambda _: impress(anyone, ad), range(32)))
        list(pool.map(lambda _: click(anyone, ad), range(32)))
    assert ads.counted(campaign) == (1, 1)


def test_a_head_request_is_not_counted(ads, anyone):
    slot, campaign = ads.running()
    ad = ads.serve(slot)
    assert click(anyone, ad, method="HEAD").headers["Location"] == LANDING
    assert impress(anyone, ad, method="HEAD").content == b""
    assert ads.counted(campaign) == (0, 0)
    click(anyone, ad)
    assert ads.counted(campaign) == (0, 1)


@pytest.mark.parametrize("header", [{"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}, {"X-Moz": "prefetch"}])
def test_a_prefetch_is_not_counted(ads, anyone, header):
    slot, campaign = ads.running()
    ad = ads.serve(slot)
    assert click(anyone, ad, headers=header).headers["Location"] == LANDING
    assert impress(anyone, ad, headers=header).status_code == 200
    assert ads.counted(campaign) == (0, 0)
    click(anyone, ad)
    impress(anyone, ad)
    assert ads.counted(campaign) == (1, 1)


def tampered(token):
    """The token with one bit of each part inverted, and other tokens that were never issued."""
    raw = base64.urlsafe_b64decode(token + "==")
    for place in (0, 1, 2, 20, 40, 60, 73, 74, len(raw) - 1):
        changed = bytearray(raw)
        changed[place] ^= 1
        yield base64.urlsafe_b64encode(bytes(changed)).decode().rstrip("=")
    yield from (token[:-1], token[:70], token + "A", token + "==", token[::-1], "x", token.lower(), "a" * 142)


def test_forged_tokens_count_nothing_and_redirect_nowhere(ads, anyone, new_org):
    slot, campaign = ads.running()
    other = Ads(new_org(attributes=False))
    other_slot, other_campaign = other.running()
    ad = ads.serve(slot)
    seen, clicked = (ad[name].rsplit("/", 1)[1] for name in ("impression_url", "click_url"))
    for kind, good, swapped in (("impressions", seen, clicked), ("clicks", clicked, seen)):
        for token in (*tampered(good), swapped):
            anyone.get(f"/v1/ads/{kind}/{token}", expect=404, code="NOT_FOUND", allow_redirects=False)
    # A token of another tenant with the ids of this campaign.
    theirs = base64.urlsafe_b64decode(other.serve(other_slot)["impression_url"].rsplit("/", 1)[1] + "==")
    ours = base64.urlsafe_b64decode(seen + "==")
    for cut in (18, 34, 50, 66):
        mixed = base64.urlsafe_b64encode(theirs[:cut] + ours[cut:]).decode().rstrip("=")
        anyone.get(f"/v1/ads/impressions/{mixed}", expect=404)
    assert ads.counted(campaign) == other.counted(other_campaign) == (0, 0)


def test_an_expired_token_counts_nothing_and_still_redirects(ads, anyone, stack):
    slot, campaign = ads.running()
    ad = ads.serve(slot)
    with stack.later(DAY + 60):
        assert impress(anyone, ad).content == GIF
        assert click(anyone, ad).headers["Location"] == LANDING
    assert ads.counted(campaign) == (0, 0)
    impress(anyone, ad)
    assert ads.counted(campaign) == (1, 0)


def test_a_click_redirects_only_to_the_stored_page(ads, anyone):
    slot, campaign = ads.running()
    ad = ads.serve(slot)
    for query in ({"url": "https://evil.test"}, {"redirect": "//evil.test"}, {"landing_url": "https://evil.test"}):
        assert click(anyone, ad, params=query, headers={"Host": anyone.stack.base_url.split("//")[1],
                                                        "Referer": "https://evil.test/"}).headers["Location"] == LANDING
    creative = ads.listed("creatives", campaign_id=campaign["id"])[0]
    ads.change("creatives", creative, landing_url="https://shop.example/moved")
    assert click(anyone, ad).headers["Location"] == "https://shop.example/moved"
    ads.delete("creatives", creative)
    click(anyone, ad, expect=404)
    assert impress(anyone, ad).content == GIF
    assert ads.counted(campaign) == (1, 1)


def test_figures_are_deleted_with_their_campaign(ads, anyone):
    slot, campaign = ads.running()
    ad = ads.serve(slot)
    ads.delete("campaigns", campaign)
    wait_for(lambda: all(ads.serve(slot) is None for _ in range(32)), "all workers to notice", 5)
    assert impress(anyone, ad).content == GIF
    click(anyone, ad, expect=404)
    ads.read("campaigns", campaign, expect=404)


def test_the_counts_of_a_removed_member_are_deleted(ads, module_org, stack):
    slot, _ = ads.running(frequency_cap=3)
    ann = module_org.create_user({"email": email()})
    ads.serve(slot, user_id=ann["id"])
    counts = "SELECT COUNT(*) FROM ad_member_days WHERE member_id = UNHEX(REPLACE(%s, '-', ''))"
    assert stack.sql(counts, ann["member_id"]) == [(1,)]
    module_org.api.delete(f"/v1/users/{ann['id']}", expect=204)
    assert stack.sql(counts, ann["member_id"]) == [(0,)]


def test_the_rate_of_a_key_applies_to_ads_too(ads, module_org):
    issued = module_org.issue_publishable_key("tracking", "--rate", "1", "--burst", "3")
    page = PageClient(module_org.stack, module_org.api.contract, issued)
    slot, _ = ads.running()
    statuses = [page.get("/v1/ads/serve", params={"slot": slot["slug"]}).status_code for _ in range(8)]
    assert statuses[0] == 200 and 429 in statuses
    assert IMAGE == ads.serve(slot)["image_url"]
