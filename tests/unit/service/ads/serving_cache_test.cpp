// service/ads/serving_cache.hpp: the cached slots of all organizations have a bound.
#include "service/ads/serving_cache.hpp"

#include "print.hpp"

#include <string>
#include <vector>

using namespace muster;
using service::AdServingCache;

namespace {

struct Cache {
    // A slot of about so many MiB.
    void keep(const OrgId& organization, const std::string& slug, std::size_t mebibytes) {
        std::vector<rules::AdCandidate> candidates(1);
        for (std::size_t i = 0; i < mebibytes; ++i) {
            auto& creative = candidates[0].creatives.emplace_back();
            creative.image_url = std::string(std::size_t{1} << 20U, 'x');
        }
        cache.keep_slot(organization, slug, std::move(candidates), now);
    }
    bool has(const OrgId& organization, const std::string& slug) const {
        return cache.find_slot(organization, slug, now) != nullptr;
    }

    AdServingCache cache{KeyRing(Secret(std::string(32, 'k')))};
    Timestamp now{1'000'000};
    OrgId acme = OrgId::create();
    OrgId umbrella = OrgId::create();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ad_serving_cache, Cache)

BOOST_AUTO_TEST_CASE(an_organization_with_large_slots_drops_its_own) {
    keep(umbrella, "small", 1);
    for (const char* slug : {"a", "b", "c"}) keep(acme, slug, 10);
    BOOST_TEST(has(acme, "a"));
    keep(acme, "d", 10);
    BOOST_TEST(!has(acme, "a"));
    BOOST_TEST(has(acme, "d"));
    BOOST_TEST(has(umbrella, "small"));
    BOOST_TEST(cache.slot_bytes() < 12U << 20U);
}

BOOST_AUTO_TEST_CASE(old_slots_are_dropped_first) {
    keep(acme, "old", 10);
    now = now + AdServingCache::kLifetime;
    for (const char* slug : {"a", "b", "c"}) keep(acme, slug, 10);
    for (const char* slug : {"a", "b", "c"}) BOOST_TEST(has(acme, slug));
    BOOST_TEST(cache.slot_bytes() < 31U << 20U);
}

BOOST_AUTO_TEST_CASE(a_slot_that_is_read_again_counts_once) {
    for (int i = 0; i < 10; ++i) keep(acme, "a", 10);
    BOOST_TEST(has(acme, "a"));
    BOOST_TEST(cache.slot_bytes() < 11U << 20U);
}

BOOST_AUTO_TEST_CASE(many_organizations_together_have_the_bound_too) {
    for (int i = 0; i < 20; ++i) {
        keep(OrgId::create(), "a", 5);
        BOOST_TEST(cache.slot_bytes() < 33U << 20U);
    }
}

BOOST_AUTO_TEST_SUITE_END()
