#include "db/read_costs.hpp"

#include "db/members.hpp"

#include "print.hpp"

namespace muster::test {

std::vector<std::string> some_texts(std::string_view prefix) {
    std::vector<std::string> texts;
    for (int i = 1; i <= kAsked; ++i) texts.push_back(std::string(prefix) + std::to_string(i));
    return texts;
}

std::string hash_of(std::int64_t number) {
    return std::string(Uuid::kBytes, '\0') + std::string(id_of<Uuid>(number).bytes());
}

std::vector<std::string> some_hashes() {
    std::vector<std::string> hashes;
    for (int i = 1; i <= kAsked; ++i) hashes.push_back(hash_of(i));
    return hashes;
}

std::vector<MeasuredCall> all_measured_calls() {
    std::vector<MeasuredCall> all;
    for (const auto& family : {member_calls, import_calls, access_calls, page_calls, module_calls,
                               webhook_calls, purge_calls, organization_calls}) {
        for (MeasuredCall& call : family()) all.push_back(std::move(call));
    }
    return all;
}

ReadCosts::ReadCosts() {
    database->run("SET FOREIGN_KEY_CHECKS = 0");
}

void ReadCosts::import_members(int count) {
    constexpr int kBatch = 1000;
    for (int from = 0; from < count; from += kBatch) {
        Batch batch;
        for (int i = from; i < from + kBatch; ++i) {
            batch.add("p" + std::to_string(i) + "@x.test");
        }
        const auto inputs = batch.inputs();
        database->transaction([&](db::Tx& tx) {
            return service::create_or_attach(tx, acme, inputs, Expect::NewUsers, kStart);
        });
    }
}

std::int64_t ReadCosts::entries_read() {
    return database->autocommit([](db::Tx& tx) { return test::entries_read(tx); });
}

std::int64_t ReadCosts::cost_of(const MeasuredCall& call, std::size_t& found) {
    struct Undo {};
    std::int64_t cost = 0;
    const auto measure = [&](db::Tx& tx) {
        db::OrgStore org(tx, acme);
        const auto before = test::entries_read(tx);
        found = call.run(tx, org);
        cost = test::entries_read(tx) - before;
        throw Undo{};
    };
    BOOST_CHECK_THROW(database->transaction(measure), Undo);
    return cost;
}

void ReadCosts::run_all_calls() {
    std::size_t found = 0;
    for (const MeasuredCall& call : all_measured_calls()) cost_of(call, found);
}

void ReadCosts::check_all_calls() {
    for (const MeasuredCall& call : all_measured_calls()) {
        std::size_t found = 0;
        const auto cost = cost_of(call, found);
        BOOST_TEST_CONTEXT(call.statements.front()) {
            BOOST_TEST(found > 0U);
            BOOST_TEST(cost <= call.most_entries);
        }
    }
}

}  // namespace muster::test
