// service/modules/modules.hpp: drafts, published versions, and deprecated modules.
#include "service/modules/modules.hpp"
#include "rules/audit.hpp"

#include "db/modules.hpp"

#include "print.hpp"

#include <atomic>
#include <string>
#include <vector>

using namespace muster;
using rules::ModuleStatus;
using rules::VersionStatus;
using test::code_of;
using test::error_of;
using test::ModuleFixture;

BOOST_FIXTURE_TEST_SUITE(modules, ModuleFixture)

BOOST_AUTO_TEST_CASE(a_new_module_is_a_draft_of_its_organization) {
    const auto module = create("shop");
    BOOST_TEST(module.status == ModuleStatus::Draft);
    BOOST_TEST(module.kind == rules::ModuleKind::Proprietary);
    BOOST_TEST(module.owner_organization_id == acme);
    BOOST_TEST(!module.current_version_id.has_value());
    const auto found = service::find_module(context, acme, module.id);
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->slug == "shop");
    BOOST_TEST(found->name == "Name");
    BOOST_TEST(found->vendor == "Vendor");
    BOOST_TEST(found->created_at == module.created_at);
    BOOST_TEST(client.value("SELECT created_by FROM modules") == ann.bytes());
    BOOST_TEST(!service::find_module(context, organization("Other"), module.id).has_value());
}

BOOST_AUTO_TEST_CASE(a_slug_is_unique_only_in_its_organization) {
    create("shop");
    const auto error = error_of([&] { create("shop"); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::Conflict);
    BOOST_TEST(error->details()["field"].asString() == "slug");
    const OrgId other = organization("Other");
    as(other, [](service::OrgTransaction& transaction) {
        return service::create_module(transaction, {"shop", "Name", "Vendor"});
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM modules") == 2);
}

BOOST_AUTO_TEST_CASE(an_organization_has_at_most_two_hundred_modules) {
    for (int i = 0; i < service::kMostModules; ++i) create("m" + std::to_string(i));
    BOOST_TEST(code_of([&] { create("more"); }) == ErrorCode::InvalidState);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM modules") == service::kMostModules);
}

BOOST_AUTO_TEST_CASE(modules_that_are_created_at_the_same_time_are_counted) {
    for (int i = 1; i < service::kMostModules; ++i) create("m" + std::to_string(i));
    const auto create_last = [&] {
        client.execute(
            "INSERT INTO modules (organization_id, id, slug, name, vendor, kind, status, "
            "created_at, updated_at) VALUES (?, ?, 'last', '', '', 'proprietary', 'draft', 0, 0)",
            acme, ModuleId::create());
    };
    const auto code = result_after_count(acme, create_last, [&] {
        return code_of([&] {
            test::DatabaseContext().as(acme, [](service::OrgTransaction& transaction) {
                return service::create_module(transaction, {"more", "Name", "Vendor"});
            });
        });
    });
    BOOST_TEST(code == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(a_module_has_at_most_five_hundred_versions) {
    const auto module = create("shop");
    draft(module.id, "0");
    client.execute(
        "INSERT INTO module_versions (organization_id, id, module_id, version, manifest, status, "
        "created_at, updated_at) SELECT ?, UNHEX(LPAD(HEX(seq), 32, '0')), ?, seq, '{}', 'draft', "
        "0, 0 FROM " +
            test::sequence(498),
        acme, module.id);
    draft(module.id, "499");
    BOOST_TEST(code_of([&] { draft(module.id, "500"); }) == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(a_draft_stores_any_manifest_unchanged) {
    const auto module = create("shop");
    const auto version = draft(module.id, "1", R"({"b":1,"a":{"x":[1.50]}})");
    BOOST_TEST(version.status == VersionStatus::Draft);
    BOOST_TEST(!version.published_at.has_value());
    const auto listed = service::list_versions(context, acme, module.id, {}, 10);
    BOOST_TEST_REQUIRE(listed.size() == 1U);
    BOOST_TEST(listed[0].manifest.text == R"({"b":1,"a":{"x":[1.50]}})");
    const auto error = error_of([&] { draft(module.id, "1"); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::Conflict);
    BOOST_TEST(error->details()["field"].asString() == "version");
    draft(create("other").id, "1");
}

BOOST_AUTO_TEST_CASE(a_published_version_becomes_current_and_remains_published) {
    const auto module = create("shop");
    const auto one = draft(module.id, "1");
    const auto two = draft(module.id, "2");
    for (const auto& version : {one, two}) {
        const auto published = publish(module.id, version.id);
        BOOST_TEST(published.status == VersionStatus::Published);
        BOOST_TEST(published.published_at.has_value());
        const auto found = *service::find_module(context, acme, module.id);
        BOOST_TEST(found.status == ModuleStatus::Published);
        BOOST_TEST(found.current_version_id == version.id);
    }
    BOOST_TEST(code_of([&] { publish(module.id, one.id); }) == ErrorCode::InvalidState);
    BOOST_TEST(service::find_module(context, acme, module.id)->current_version_id == two.id);
    const auto listed = service::list_versions(context, acme, module.id, {}, 10);
    BOOST_TEST_REQUIRE(listed.size() == 2U);
    BOOST_TEST(listed[0].published_at <= listed[1].published_at);
}

BOOST_AUTO_TEST_CASE(a_change_that_began_earlier_gets_a_later_time) {
    const auto module = create("shop");
    const auto one = draft(module.id, "1");
    const auto two = draft(module.id, "2");
    const auto first = *publish(module.id, one.id).published_at;
    const auto second = as_admin([&](service::OrgTransaction& transaction) {
        transaction.now = first - Milliseconds(50);
        return service::publish_version(transaction, module.id, two.id);
    });
    BOOST_TEST(*second.published_at > first);
    const auto current = *service::find_module(context, acme, module.id);
    BOOST_TEST(current.current_version_id == two.id);
    BOOST_TEST(current.updated_at == *second.published_at);
    BOOST_TEST((service::find_version(context, acme, module.id, two.id)->published_at ==
                second.published_at));
    const auto deprecated = as_admin([&](service::OrgTransaction& transaction) {
        transaction.now = first - Milliseconds(50);
        return service::deprecate_module(transaction, module.id);
    });
    BOOST_TEST(deprecated.updated_at > current.updated_at);
}

BOOST_AUTO_TEST_CASE(an_invalid_manifest_is_not_published) {
    const auto module = create("shop");
    const auto broken =
        draft(module.id, "1", R"({"events":{"emits":["shop.ok","other.no"]},"more":1})");
    const auto error = error_of([&] { publish(module.id, broken.id); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::ManifestInvalid);
    BOOST_TEST(error->details()["fields"].size() == 3U);
    BOOST_TEST(service::find_module(context, acme, module.id)->status == ModuleStatus::Draft);
    BOOST_TEST(client.value("SELECT status FROM module_versions") == "draft");
}

BOOST_AUTO_TEST_CASE(a_deprecated_module_publishes_no_further_version) {
    const auto module = create("shop");
    const auto deprecate = [&] {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::deprecate_module(transaction, module.id);
        });
    };
    BOOST_TEST(code_of(deprecate) == ErrorCode::InvalidState);
    publish(module.id, draft(module.id, "1").id);
    const auto next = draft(module.id, "2");
    const auto deprecated = deprecate();
    BOOST_TEST(deprecated.status == ModuleStatus::Deprecated);
    BOOST_TEST(deprecate().updated_at == deprecated.updated_at);
    BOOST_TEST(code_of([&] { publish(module.id, next.id); }) == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(an_unknown_or_foreign_module_is_not_found) {
    const auto module = create("shop");
    const auto version = draft(module.id, "1");
    const auto second = create("second");
    BOOST_TEST(code_of([&] { publish(second.id, version.id); }) == ErrorCode::NotFound);
    BOOST_TEST(code_of([&] { publish(ModuleId::create(), version.id); }) == ErrorCode::NotFound);
    const OrgId other = organization("Other");
    const auto by_other = [&](const auto& work) {
        return code_of([&] { as(other, work); }) == ErrorCode::NotFound;
    };
    BOOST_TEST(by_other([&](service::OrgTransaction& transaction) {
        service::create_version(transaction, module.id, {"2", {"{}"}});
    }));
    BOOST_TEST(by_other([&](service::OrgTransaction& transaction) {
        service::publish_version(transaction, module.id, version.id);
    }));
    BOOST_TEST(by_other([&](service::OrgTransaction& transaction) {
        service::deprecate_module(transaction, module.id);
    }));
    BOOST_TEST(code_of([&] { service::list_versions(context, other, module.id, {}, 10); }) ==
               ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(modules_and_versions_are_listed_page_by_page_in_order_of_creation) {
    std::vector<ModuleId> made;
    for (const char* slug : {"ab", "aa", "ac"}) made.push_back(create(slug).id);
    const auto first = service::list_modules(context, acme, {}, 2);
    const auto rest = service::list_modules(context, acme, first.back().id, 2);
    BOOST_TEST_REQUIRE(first.size() + rest.size() == 3U);
    BOOST_TEST((std::vector{first[0].id, first[1].id, rest[0].id}) == made);
    std::vector<VersionId> versions;
    for (const char* name : {"b", "a", "c"}) versions.push_back(draft(made[0], name).id);
    draft(made[1], "a");
    const auto page = service::list_versions(context, acme, made[0], versions[0], 5);
    BOOST_TEST_REQUIRE(page.size() == 2U);
    BOOST_TEST(page[1].id == versions[2]);
}

BOOST_AUTO_TEST_CASE(eight_parallel_publications_publish_one) {
    const auto module = create("shop");
    const auto version = draft(module.id, "1");
    std::atomic<int> published = 0;
    test::in_parallel(8, [&](int) {
        test::DatabaseContext worker;
        const auto code = code_of([&] {
            worker.as(acme, [&](service::OrgTransaction& transaction) {
                return service::publish_version(transaction, module.id, version.id);
            });
        });
        published += code ? 0 : 1;
    });
    BOOST_TEST(published == 1);
}

BOOST_AUTO_TEST_CASE(the_log_records_creation_publication_and_deprecation) {
    const auto module = create("shop");
    const auto version = draft(module.id, "1");
    publish(module.id, version.id);
    for (int i = 0; i < 2; ++i) {
        as_admin([&](service::OrgTransaction& transaction) {
            return service::deprecate_module(transaction, module.id);
        });
    }
    const auto entries = log(acme);
    BOOST_TEST_REQUIRE(entries.size() >= 4U);
    const std::vector<std::string> expected = {"module.deprecated", "module.published",
                                               "module.version_created", "module.created"};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        BOOST_TEST(entries[i].action == expected[i]);
        BOOST_TEST(entries[i].subject_id == module.id.text());
    }
    BOOST_TEST(entries[1].details ==
               R"({"version":"1","version_id":")" + version.id.text() + "\"}");
}

BOOST_AUTO_TEST_SUITE_END()
