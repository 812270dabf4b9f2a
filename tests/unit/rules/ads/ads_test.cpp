// rules/ads/ads.hpp and rules/ads/choice.hpp: validation and targeting of campaigns, budget pacing,
// and the draw.
#include "rules/ads/ads.hpp"
#include "rules/origins.hpp"

#include "rules/ads/choice.hpp"
#include "rules/attributes.hpp"

#include "print.hpp"
#include "processor_time.hpp"

using namespace muster;
using rules::AdCandidate;
using rules::AdVisitor;
using rules::Targeting;

namespace {

constexpr std::int64_t kHour = 3600L * 1000;
constexpr Timestamp kMidnight{20'000 * 24 * kHour};

Timestamp at(double hours) {
    return kMidnight + Milliseconds(static_cast<std::int64_t>(hours * kHour));
}

AdVisitor ann() {
    AdVisitor visitor;
    visitor.member = MemberId::create();
    visitor.country = "GB";
    visitor.locale = "en-GB";
    visitor.tags = {"football", "cup"};
    visitor.attributes =
        R"({"team":["red","api",1],"age":[42,"api",1],"vip":[true,"api",1],"likes":[["a","b"],"api",1]})";
    return visitor;
}

AdCandidate candidate(std::int64_t weight = 1) {
    AdCandidate made;
    made.campaign = CampaignId::create();
    made.weight = weight;
    made.targeting.emplace();
    made.creatives.emplace_back();
    return made;
}

bool is_showable(const AdCandidate& what, const AdVisitor& visitor = {}, Timestamp when = at(12)) {
    return !rules::eligible_candidates({&what, 1}, visitor, when).empty();
}

bool suits(const Targeting& targeting, const AdVisitor& visitor = ann()) {
    AdCandidate made = candidate();
    made.targeting = rules::targeting_of(rules::targeting_document(targeting)).value();
    return is_showable(made, visitor);
}
Targeting asking_for(std::string attributes) {
    return {{}, {}, {}, std::move(attributes)};
}

std::vector<std::string> faults_of(const Targeting& targeting) {
    using rules::AttributeType;
    const rules::AttributeRegistry registry({{"team", "", AttributeType::Text, {}, true},
                                             {"age", "", AttributeType::Number, {}, true},
                                             {"likes", "", AttributeType::MultiChoice, {"a"}, true},
                                             {"off", "", AttributeType::Text, {}, false}});
    Faults faults;
    rules::validate_targeting(targeting, registry, faults);
    std::vector<std::string> list;
    for (const Fault& fault : faults.list()) {
        list.push_back(fault.path + " " + std::string(field_code_text(fault.code)));
    }
    return list;
}
using Strings = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(ads)

BOOST_AUTO_TEST_CASE(a_campaign_without_conditions_matches_everybody) {
    BOOST_TEST(suits({}));
    BOOST_TEST(suits({}, {}));
    BOOST_TEST(rules::targeting_document({}) == "{}");
}

BOOST_AUTO_TEST_CASE(every_condition_must_match_and_unknown_values_do_not_match) {
    BOOST_TEST(suits({{"DE", "GB"}, {}, {}, "{}"}));
    BOOST_TEST(!suits({{"DE"}, {}, {}, "{}"}));
    BOOST_TEST(!suits({{"GB"}, {}, {}, "{}"}, {}));
    BOOST_TEST(suits({{}, {}, {"golf", "cup"}, "{}"}));
    BOOST_TEST(!suits({{}, {}, {"golf"}, "{}"}));
    BOOST_TEST(!suits({{}, {}, {"cup"}, "{}"}, {}));
    BOOST_TEST(!suits({{"GB"}, {}, {"golf"}, "{}"}));
    BOOST_TEST(suits({{"GB"}, {"en"}, {"cup"}, R"({"team":"red"})"}));
}

BOOST_AUTO_TEST_CASE(a_language_matches_all_its_countries) {
    for (const char* locale : {"en", "EN", "en-GB", "en_gb"}) {
        BOOST_TEST(suits({{}, {locale}, {}, "{}"}), locale);
    }
    for (const char* locale : {"e", "en-US", "en-GB-x", "de"}) {
        BOOST_TEST(!suits({{}, {locale}, {}, "{}"}), locale);
    }
    AdVisitor visitor;
    visitor.locale = "eng";
    BOOST_TEST(!suits({{}, {"en"}, {}, "{}"}, visitor));
    BOOST_TEST(!suits({{}, {"en"}, {}, "{}"}, {}));
}

BOOST_AUTO_TEST_CASE(attributes_must_be_equal) {
    for (const char* wanted : {R"({"team":"red"})", R"({"age":42})", R"({"age":42.0})",
                               R"({"vip":true})", R"({"likes":"b"})", R"({"age":42,"vip":true})"}) {
        BOOST_TEST(suits(asking_for(wanted)), wanted);
    }
    for (const char* wanted :
         {R"({"team":"Red"})", R"({"age":"42"})", R"({"vip":1})", R"({"vip":false})",
          R"({"likes":"c"})", R"({"none":"x"})", R"({"age":42,"team":"blue"})"}) {
        BOOST_TEST(!suits(asking_for(wanted)), wanted);
    }
    BOOST_TEST(!suits(asking_for(R"({"team":"red"})"), {}));
}

BOOST_AUTO_TEST_CASE(long_numbers_are_compared_by_all_digits) {
    for (const std::string number :
         {"9007199254740993", "18446744073709551617", "0.30000000000000004", "1234567890.123456"}) {
        AdVisitor visitor = ann();
        visitor.attributes = R"({"card":[)" + number + R"(,"api",1]})";
        const auto stored = rules::targeting_of(
            rules::targeting_document(asking_for(R"({"card":)" + number + "}")));
        BOOST_TEST_REQUIRE(stored.has_value());
        BOOST_TEST(stored->attributes == R"({"card":)" + number + "}");
        BOOST_TEST(suits(*stored, visitor), number);
    }
    AdVisitor visitor = ann();
    visitor.attributes = R"({"card":[9007199254740993,"api",1]})";
    BOOST_TEST(!suits(asking_for(R"({"card":9007199254740992})"), visitor));
    visitor.attributes = R"({"card":[1e16,"api",1]})";
    BOOST_TEST(suits(asking_for(R"({"card":10000000000000000})"), visitor));
}

// 100 campaigns of a slot with 180 conditions each, for a member with 180 multiple choices of 500.
BOOST_AUTO_TEST_CASE(the_costliest_choice_takes_bounded_processor_time) {
    std::string choices;
    for (int i = 0; i < 500; ++i) choices += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
    AdVisitor visitor = ann();
    std::string wanted;
    visitor.attributes = "{";
    for (int i = 0; i < 180; ++i) {
        const std::string key = (i == 0 ? "\"a" : ",\"a") + std::to_string(i) + "\":";
        visitor.attributes.append(key).append("[[").append(choices).append("],\"api\",1]");
        wanted.append(key).append("\"499\"");
    }
    visitor.attributes += "}";
    AdCandidate last = candidate();
    last.targeting->attributes = "{" + wanted + "}";
    const std::vector<AdCandidate> all(100, last);
    std::size_t found = 0;
    const double used = test::processor_milliseconds(
        [&] { found = rules::eligible_candidates(all, visitor, at(12)).size(); });
    BOOST_TEST(found == 100U);
    BOOST_TEST(used < test::processor_limit());
}

BOOST_AUTO_TEST_CASE(a_targeting_with_another_order_of_keys_is_the_same) {
    BOOST_TEST(
        (asking_for(R"({"age":42.0,"vip":true})") == asking_for(R"({"vip":true,"age":42})")));
    BOOST_TEST((asking_for(R"({"age":42})") != asking_for(R"({"age":43})")));
    BOOST_TEST((asking_for(R"({"age":42})") != asking_for("{}")));
}

BOOST_AUTO_TEST_CASE(an_unreadable_targeting_matches_no_visitor) {
    for (const char* broken : {"", "[]", "{\"countries\":1}", "{\"tags\":[1],\"attributes\":{}}",
                               "{\"attributes\":[]}", "{"}) {
        BOOST_TEST(!rules::targeting_of(broken).has_value(), broken);
    }
    auto unreadable = candidate();
    unreadable.targeting.reset();
    BOOST_TEST(!is_showable(unreadable, ann()));
}

BOOST_AUTO_TEST_CASE(a_targeting_is_stored_unchanged) {
    const Targeting targeting{{"GB"}, {"en"}, {"a\"b"}, R"({"age":1.5,"team":"r\"ed"})"};
    BOOST_TEST((rules::targeting_of(rules::targeting_document(targeting)) == targeting));
}

BOOST_AUTO_TEST_CASE(texts_that_were_stored_decomposed_match_composed_ones) {
    AdVisitor zoe = ann();
    zoe.tags = {"f\u00eate"};
    for (const char* team : {"Be\u0301rn", "B\u00e9rn"}) {
        zoe.attributes = "{\"team\":[\"" + std::string(team) + R"(","api",1],"likes":[[")" + team +
                         R"("],"api",1]})";
        for (const char* wanted : {"Be\u0301rn", "B\u00e9rn"}) {
            const std::string value = "\"" + std::string(wanted) + "\"}";
            BOOST_TEST(suits({{}, {}, {"fe\u0302te"}, "{\"team\":" + value}, zoe));
            BOOST_TEST(suits({{}, {}, {"f\u00eate"}, "{\"likes\":" + value}, zoe));
        }
        BOOST_TEST(!suits(asking_for(R"({"team":"Bern"})"), zoe));
    }
    BOOST_TEST(rules::normalized_attributes("{\"team\":\" e\u0301 \",\"age\":42}") ==
               "{\"team\":\"\u00e9\",\"age\":42}");
}

BOOST_AUTO_TEST_CASE(every_fault_of_a_targeting_is_reported) {
    BOOST_TEST(
        faults_of({{"GB"}, {"en"}, {"x"}, R"({"age":1,"likes":"a","team":"t"})"}) == Strings{},
        boost::test_tools::per_element());
    const Strings all{
        "targeting.countries[1] duplicate",          "targeting.tags[1] duplicate",
        "targeting.tags[2] invalid_value",           "targeting.tags[3] invalid_value",
        "targeting.attributes.age invalid_value",    "targeting.attributes.likes invalid_value",
        "targeting.attributes.no unknown_attribute", "targeting.attributes.off unknown_attribute",
        "targeting.attributes.team wrong_type"};
    BOOST_TEST(faults_of({{"GB", "GB"},
                          {},
                          {"x", "x", "x,y", ","},
                          R"({"age":"1","likes":"b","no":1,"off":"x","team":["t"]})"}) == all,
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_landing_page_is_a_plain_web_address) {
    for (const char* url : {"https://shop.example/", "http://shop.example:8080/a?b=c#d",
                            "HTTPS://Shop.Example", "https://[2606:4700::1111]/"}) {
        BOOST_TEST(rules::is_web_url(url), url);
    }
    for (const char* url :
         {"", "shop.example", "//shop.example", "/path", "javascript:alert(1)", "data:text/html,x",
          "ftp://shop.example/", "https://", "https:///path", "https://ann@shop.example/",
          "https://ann:pw@shop.example/", "https://shop.example/a b",
          "https://shop.example/\r\nX: y", "https://shop.example/\xc3\xa4",
          "https://good.example\\@bad.example/", "https://shop.example:99999/",
          "javascript://shop.example/%0aalert(1)"}) {
        BOOST_TEST(!rules::is_web_url(url), url);
    }
    BOOST_TEST(rules::is_web_url("https://s.example/" + std::string(2030, 'a')));
    BOOST_TEST(!rules::is_web_url("https://s.example/" + std::string(2031, 'a')));
}

BOOST_AUTO_TEST_CASE(a_budget_is_paced_over_the_day) {
    const auto paced = [](std::int64_t budget, double hours) {
        return rules::paced_budget(budget, Timestamp(0), std::nullopt, at(hours));
    };
    BOOST_TEST(paced(1000, 0) == 10);
    BOOST_TEST(paced(1000, 6) == 260);
    BOOST_TEST(paced(1000, 12) == 510);
    BOOST_TEST(paced(1000, 23.9) == 1000);
    BOOST_TEST(paced(1, 0) == 1);  // the first shows early
    BOOST_TEST(paced(3, 0) == 1);
    BOOST_TEST(paced(3, 8) == 2);
    BOOST_TEST(paced(3, 23) == 3);
}

BOOST_AUTO_TEST_CASE(a_partial_day_of_a_campaign_is_paced_over_its_part) {
    BOOST_TEST(rules::paced_budget(100, at(12), at(14), at(13)) == 51);
    BOOST_TEST(rules::paced_budget(100, at(12), std::nullopt, at(18)) == 51);
    BOOST_TEST(rules::paced_budget(100, at(-48), at(6), at(3)) == 51);
    BOOST_TEST(rules::paced_budget(100, at(12), at(14), at(11.9)) == 0);
    BOOST_TEST(rules::paced_budget(100, at(12), at(14), at(14)) == 0);
    BOOST_TEST(rules::paced_budget(100, at(12), at(36), at(24)) == 1);  // the next day begins
}

BOOST_AUTO_TEST_CASE(only_campaigns_with_room_are_shown) {
    BOOST_TEST(is_showable(candidate()));
    auto capped = candidate();
    capped.frequency_cap = 3;
    auto visitor = ann();
    visitor.shown[capped.campaign] = 2;
    BOOST_TEST(is_showable(capped, visitor));
    visitor.shown[capped.campaign] = 3;
    BOOST_TEST(!is_showable(capped, visitor));
    BOOST_TEST(is_showable(capped));  // a cap does not apply to unknown visitors
    auto later = candidate();
    later.starts_at = at(12.1);
    BOOST_TEST(!is_showable(later));
    auto over = candidate();
    over.ends_at = at(12);
    BOOST_TEST(!is_showable(over));
    auto empty = candidate();
    empty.creatives.clear();
    BOOST_TEST(!is_showable(empty));
}

BOOST_AUTO_TEST_CASE(a_small_budget_is_reserved_one_by_one_and_a_large_one_by_the_hundred) {
    BOOST_TEST(rules::reserved_at_once(1) == 1);
    BOOST_TEST(rules::reserved_at_once(1999) == 1);
    BOOST_TEST(rules::reserved_at_once(50'000) == 50);
    BOOST_TEST(rules::reserved_at_once(rules::kMostDailyImpressions) == 100);
}

BOOST_AUTO_TEST_CASE(a_campaign_is_drawn_by_its_weight) {
    const std::vector<AdCandidate> made{candidate(1), candidate(10), candidate(5)};
    const std::vector<const AdCandidate*> list{&made[0], &made[1], &made[2]};
    std::array<int, 3> drawn{};
    for (std::uint64_t number = 0; number < 16; ++number) {
        const auto place = rules::draw_by_weight(list, [&](std::uint64_t bound) {
            BOOST_TEST(bound == 16U);
            return number;
        });
        ++drawn.at(place);
    }
    BOOST_TEST(drawn[0] == 1);
    BOOST_TEST(drawn[1] == 10);
    BOOST_TEST(drawn[2] == 5);
}

BOOST_AUTO_TEST_CASE(a_creative_has_exactly_the_fields_of_its_kind) {
    rules::AdCreative image;
    const auto faults = [&] {
        Faults found;
        rules::validate_creative(image, found);
        return found.list().size();
    };
    BOOST_TEST(faults() == 1U);
    image.image_url = "https://img.example/a.png";
    BOOST_TEST(faults() == 0U);
    image.html = "<b>x</b>";
    BOOST_TEST(faults() == 1U);
    image.kind = rules::CreativeKind::Html;
    BOOST_TEST(faults() == 1U);
    image.image_url.reset();
    BOOST_TEST(faults() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
