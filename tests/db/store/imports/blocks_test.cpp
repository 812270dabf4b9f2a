// store/imports/blocks.hpp: blocks are ordered, and a reader gets the requested ones.
#include "store/imports/blocks.hpp"
#include "rules/imports/block.hpp"

#include "db/imports.hpp"

#include <future>

using namespace muster;
using db::OrgStore;
using rules::RowState;
using store::BlockKey;
using store::BlockState;
using test::ImportFixture;
using test::until;

namespace muster::rules {

inline std::ostream& operator<<(std::ostream& to, const BlockKey& key) {
    return to << '{' << key.number << ", " << key.part << '}';
}

}  // namespace muster::rules

namespace {

const Timestamp kStagedAt = Timestamp::now();
const Timestamp kDecidedAt = kStagedAt + Milliseconds(1000);

struct Blocks : ImportFixture {
    template <class Call>
    auto on_store(const Call& call) {
        return database.transaction([&](db::Tx& tx) {
            OrgStore org(tx, acme);
            return call(org);
        });
    }

    void insert(BlockKey key, std::string data = "data") {
        const store::NewBlock block{key, 1, std::move(data)};
        on_store([&](OrgStore& org) { store::insert_blocks(org, id, {&block, 1}, kStagedAt); });
    }
    void set_outcome(BlockKey key, const std::vector<RowState>& states,
                     BlockState state = BlockState::Checked) {
        std::vector<rules::RowOutcome> outcomes;
        for (const RowState one : states) outcomes.push_back({one, {}, "", UserId::create()});
        on_store([&](OrgStore& org) {
            store::write_outcome(org, id, key, state, outcomes, kDecidedAt);
        });
    }
    std::vector<BlockKey> read(const store::RowStates& filter, BlockKey from = {},
                               int limit = 100) {
        std::vector<BlockKey> keys;
        on_store([&](OrgStore& org) {
            for (const auto& block : store::read_blocks(org, id, from, filter, limit)) {
                keys.push_back(block.key);
            }
        });
        return keys;
    }
    std::vector<BlockKey> uncommitted(BlockKey from = {}, int limit = 100) {
        return on_store(
            [&](OrgStore& org) { return store::find_uncommitted_blocks(org, id, from, limit); });
    }

    ImportId id = new_import();
};

using Keys = std::vector<BlockKey>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(store_import_blocks, Blocks)

BOOST_AUTO_TEST_CASE(a_block_is_read_as_it_was_written) {
    const std::string data("\0\xff'?:org{}", 10);
    insert({4'294'967, 3}, data);
    const auto blocks =
        on_store([&](OrgStore& org) { return store::read_blocks(org, id, {}, {}, 10); });
    BOOST_TEST_REQUIRE(blocks.size() == 1);
    const store::Block& block = blocks.front();
    BOOST_TEST(block.key == (BlockKey{4'294'967, 3}));
    BOOST_TEST(block.rows == 1);
    BOOST_TEST(block.data == data);
    BOOST_TEST(block.outcome == "");
    BOOST_TEST(block.staged_at == kStagedAt);
    BOOST_TEST(block.updated_at == kStagedAt);
}

BOOST_AUTO_TEST_CASE(blocks_are_read_in_order_from_any_position) {
    for (const BlockKey key : {BlockKey{2, 1}, BlockKey{0, 0}, BlockKey{10, 0}, BlockKey{2, 0}}) {
        insert(key);
    }
    BOOST_TEST(read({}) == (Keys{{0, 0}, {2, 0}, {2, 1}, {10, 0}}));
    BOOST_TEST(read({}, {0, 1}) == (Keys{{2, 0}, {2, 1}, {10, 0}}));
    BOOST_TEST(read({}, {2, 1}) == (Keys{{2, 1}, {10, 0}}));
    BOOST_TEST(read({}, {2, 0}, 2) == (Keys{{2, 0}, {2, 1}}));
    BOOST_TEST(read({}, {10, 1}).empty());
}

BOOST_AUTO_TEST_CASE(a_filter_finds_the_blocks_with_a_matching_row) {
    insert({0, 0});
    const std::vector<RowState> states = {RowState::Valid,    RowState::Invalid, RowState::Created,
                                          RowState::Attached, RowState::Merged,  RowState::Failed};
    std::uint32_t number = 0;
    for (const RowState state : states) {
        insert({++number, 0});
        set_outcome({number, 0}, {state});
    }
    number = 0;
    for (const RowState state : states) {
        BOOST_TEST(read({state}) == (Keys{{++number, 0}}), text_of(state));
    }
    BOOST_TEST(read({RowState::Staged}) == (Keys{{0, 0}}));
    BOOST_TEST(read({RowState::Invalid, RowState::Failed}) == (Keys{{2, 0}, {6, 0}}));
    BOOST_TEST(read({}).size() == 7);
}

BOOST_AUTO_TEST_CASE(only_validated_blocks_with_valid_rows_are_uncommitted) {
    for (std::uint32_t number = 0; number < 5; ++number) insert({number, 0});
    set_outcome({1, 0}, {RowState::Valid, RowState::Invalid});
    set_outcome({2, 0}, {RowState::Invalid});
    set_outcome({3, 0}, {RowState::Created}, BlockState::Committed);
    set_outcome({4, 0}, {RowState::Valid});
    BOOST_TEST(uncommitted() == (Keys{{1, 0}, {4, 0}}));
    BOOST_TEST(uncommitted({1, 1}) == (Keys{{4, 0}}));
    BOOST_TEST(uncommitted({}, 1) == (Keys{{1, 0}}));
    on_store([&](OrgStore& org) {
        BOOST_TEST(store::lock_uncommitted_block(org, id, {1, 0}).has_value());
        BOOST_TEST(!store::lock_uncommitted_block(org, id, {0, 0}).has_value());
        BOOST_TEST(!store::lock_uncommitted_block(org, id, {3, 0}).has_value());
        BOOST_TEST(!store::lock_uncommitted_block(org, id, {9, 0}).has_value());
    });
}

BOOST_AUTO_TEST_CASE(an_outcome_is_read_back_with_its_time) {
    insert({0, 0});
    const std::vector<rules::RowOutcome> outcomes = {
        {RowState::Invalid, rules::RowError::AttrUnknownKey, "shirt", {}},
        {RowState::Created, rules::RowError::None, "", UserId::create()}};
    on_store([&](OrgStore& org) {
        store::write_outcome(org, id, {0, 0}, BlockState::Checked, outcomes, kDecidedAt);
        const auto block = store::read_blocks(org, id, {}, {}, 1).front();
        BOOST_TEST(block.updated_at == kDecidedAt);
        BOOST_TEST(block.staged_at == kStagedAt);
        const auto read = rules::decode_outcomes(block.outcome, 2);
        BOOST_TEST(read[0].state == RowState::Invalid);
        BOOST_TEST(read[0].key == "shirt");
        BOOST_TEST(read[1].user_id == outcomes[1].user_id);
    });
}

BOOST_AUTO_TEST_CASE(blocks_are_found_by_number_with_all_their_parts) {
    for (const BlockKey key : {BlockKey{1, 7}, BlockKey{0, 0}, BlockKey{1, 0}, BlockKey{2, 3}}) {
        insert(key);
    }
    const std::vector<std::uint32_t> numbers{1, 2, 7};
    on_store([&](OrgStore& org) {
        Keys found;
        for (const store::StoredPart& part : store::find_parts(org, id, numbers)) {
            BOOST_TEST(part.rows == 1);
            found.push_back(part.key);
        }
        BOOST_TEST(found == (Keys{{1, 0}, {1, 7}, {2, 3}}));
        BOOST_TEST(store::read_block(org, id, {1, 7})->key == (BlockKey{1, 7}));
        BOOST_TEST(!store::read_block(org, id, {1, 1}).has_value());
        const Keys keys{{0, 0}, {1, 1}, {1, 7}};
        const auto parts = store::read_parts(org, id, keys);
        BOOST_TEST_REQUIRE(parts.size() == 2);
        BOOST_TEST(parts[0].key == keys[0]);
        BOOST_TEST(parts[1].key == keys[2]);
        store::delete_parts(org, id, std::span(keys).subspan(1));
    });
    BOOST_TEST(read({}) == (Keys{{0, 0}, {1, 0}, {2, 3}}));
}

BOOST_AUTO_TEST_CASE(blocks_are_deleted_in_steps) {
    for (std::uint32_t number = 0; number < 5; ++number) insert({number, 0});
    const auto delete_two = [&] {
        return on_store([&](OrgStore& org) { return store::delete_some_blocks(org, id, 2); });
    };
    BOOST_TEST(delete_two() == 2);
    BOOST_TEST(delete_two() == 2);
    BOOST_TEST(delete_two() == 1);
    BOOST_TEST(delete_two() == 0);
}

BOOST_AUTO_TEST_CASE(two_calls_that_create_the_same_block_run_in_sequence) {
    // The second call finds the block when the first commits, and runs again completely.
    int runs = 0;
    std::future<void> second;
    on_store([&](OrgStore& org) {
        const store::NewBlock block{{0, 0}, 1, "first"};
        store::insert_blocks(org, id, {&block, 1}, kStagedAt);
        second = std::async(std::launch::async, [&] {
            test::DatabaseContext worker;
            worker.database.transaction([&](db::Tx& tx) {
                OrgStore own(tx, acme);
                const store::NewBlock rival{{++runs == 1 ? 0U : 1U, 0}, 1, "second"};
                store::insert_blocks(own, id, {&rival, 1}, kStagedAt);
            });
        });
        BOOST_TEST(until([&] { return client.has_lock_wait(); }));
    });
    second.get();
    BOOST_TEST(runs == 2);
    BOOST_TEST(read({}) == (Keys{{0, 0}, {1, 0}}));
}

BOOST_AUTO_TEST_SUITE_END()
