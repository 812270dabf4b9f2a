// service/imports/jobs.hpp: pages of the list of jobs.
#include "service/imports/jobs.hpp"

#include "db/imports.hpp"

#include <algorithm>

using namespace muster;
using rules::ImportState;
using test::ImportFixture;

namespace {

struct ImportList : ImportFixture {
    using Ids = std::vector<ImportId>;

    // Newest first. All but the last one are canceled.
    Ids create(int count) {
        Ids ids;
        for (int i = 0; i < count; ++i) {
            if (i > 0) cancel(ids.back());
            ids.push_back(new_import());
        }
        std::reverse(ids.begin(), ids.end());
        return ids;
    }
    // All pages; each is full except the last one.
    Ids list(int limit, std::optional<ImportState> state = std::nullopt) {
        Ids ids;
        std::optional<ImportId> before;
        do {
            const auto page = service::list_imports(context, acme, before, state, limit);
            for (const auto& job : page.jobs) ids.push_back(job.id);
            if (page.next) BOOST_TEST(static_cast<int>(page.jobs.size()) == limit);
            before = page.next;
        } while (before);
        return ids;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(imports_list, ImportList)

BOOST_AUTO_TEST_CASE(pages_of_any_length_have_each_job_once) {
    const Ids ids = create(51);
    for (const int limit : {1, 24, 25, 26, 49, 50, 51, 52, 100}) {
        BOOST_TEST(list(limit) == ids, "limit " << limit);
    }
    BOOST_TEST(list(25, ImportState::Canceled) == Ids(ids.begin() + 1, ids.end()));
    BOOST_TEST(list(25, ImportState::Staging) == Ids(ids.begin(), ids.begin() + 1));
    BOOST_TEST(list(25, ImportState::Completed).empty());
}

BOOST_AUTO_TEST_CASE(large_mappings_end_a_page_after_4_MiB) {
    const Ids ids = create(30);
    client.execute("UPDATE import_jobs SET mapping = JSON_OBJECT('columns', REPEAT('x', 250000))");
    const auto first = service::list_imports(context, acme, std::nullopt, std::nullopt, 100);
    BOOST_TEST(first.jobs.size() == 17);
    BOOST_TEST_REQUIRE(first.next.has_value());
    const auto rest = service::list_imports(context, acme, first.next, std::nullopt, 100);
    BOOST_TEST_REQUIRE(rest.jobs.size() == 13);
    BOOST_TEST(rest.jobs.front().id == ids[17]);
    BOOST_TEST(!rest.next.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
