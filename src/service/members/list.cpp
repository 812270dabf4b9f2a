#include "service/members/list.hpp"

#include "base/text.hpp"
#include "db/transaction.hpp"
#include "store/members/list.hpp"
#include "store/members/members.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <unordered_map>

namespace muster::service {
namespace {

using store::MemberKey;

constexpr std::size_t kIdBytes = 16;
constexpr int kKeysARound = 250;  // where conditions remain to be held against them
constexpr int kRounds = 8;
constexpr std::size_t kRowsARead = 25;
constexpr std::size_t kPageBytes = std::size_t{4} << 20U;

// A position is the user's id and, behind it, the term.
std::string position_of(const MemberKey& key) {
    return std::string(key.user_id.bytes()) + key.term;
}

MemberKey key_of(std::string_view position) {
    if (position.empty()) return {"", UserId(), true};
    const auto id = Uuid::from_bytes(position.substr(0, kIdBytes));
    if (!id) throw std::invalid_argument("a position that no page gave");
    return {std::string(position.substr(kIdBytes)), UserId(*id), true};
}

std::vector<MemberKey> read_updated(db::OrgStore& org, Timestamp since, const MemberKey& after,
                                    int limit) {
    const auto when = parse_number<std::int64_t>(after.term);
    // No user has the id of nulls: from the beginning, the ones of that very millisecond count.
    return store::page_members_updated(org, when ? Timestamp(*when) : since, after.user_id, limit);
}

// The next keys of the index that leads.
std::vector<MemberKey> read_keys(db::OrgStore& org, const MemberFilter& filter,
                                 const MemberKey& after, int limit) {
    if (filter.email) {
        return after.user_id == UserId() ? store::find_member_key(org, *filter.email)
                                         : std::vector<MemberKey>();
    }
    if (filter.external_id) {
        return store::page_members_of_external_id(org, *filter.external_id, after.user_id, limit);
    }
    if (filter.prefix) return store::page_members_by_prefix(org, *filter.prefix, after, limit);
    if (filter.updated_since) return read_updated(org, *filter.updated_since, after, limit);
    if (filter.status) {
        return store::page_members_of_status(org, *filter.status, after.user_id, limit);
    }
    return store::page_members(org, after.user_id, limit);
}

// What the index that leads does not see to.
store::MemberConditions conditions_behind(const MemberFilter& filter) {
    store::MemberConditions left{filter.external_id, filter.status, filter.updated_since,
                                 filter.prefix};
    if (filter.email) return left;
    if (filter.external_id) {
        left.external_id.reset();
    } else if (filter.prefix) {
        left.prefix.reset();
    } else if (filter.updated_since) {
        left.updated_since.reset();
    } else {
        left.status.reset();
    }
    return left;
}

// The ids of some keys, filled up to `size` with the last one: statements differ by their number of
// ids, and each would be prepared by itself.
std::vector<UserId> ids_of(std::span<const MemberKey> keys, std::size_t size) {
    std::vector<UserId> ids;
    ids.reserve(size);
    for (const MemberKey& key : keys) ids.push_back(key.user_id);
    ids.resize(size, ids.back());
    return ids;
}

// Reads keys round by round until `limit` of them meet everything.
class KeyReader {
  public:
    KeyReader(db::OrgStore& org, const MemberFilter& filter, MemberKey after, int limit)
        : org_(org),
          filter_(filter),
          conditions_(conditions_behind(filter)),
          limit_(static_cast<std::size_t>(limit)),
          last_(std::move(after)) {}

    void run() {
        for (int round = 0; round < kRounds && has_more_ && hits_.size() < limit_; ++round) {
            const int size = round_size();
            auto keys = read_keys(org_, filter_, last_, size);
            has_more_ = static_cast<int>(keys.size()) == size;
            add_hits(std::move(keys));
        }
    }

    // The first `limit` that meet everything.
    const std::vector<MemberKey>& hits() const { return hits_; }
    // The last key that was looked at, where there may be more behind it.
    std::optional<MemberKey> last() const {
        return has_more_ ? std::optional(last_) : std::nullopt;
    }

  private:
    // One more than are missing tells whether there is more; where keys were passed over, as many
    // as give that number again if the next ones are like those so far.
    int round_size() const {
        if (!conditions_.empty()) return kKeysARound;
        const std::size_t missing = limit_ + 1 - hits_.size();
        if (looked_at_ == 0) return static_cast<int>(missing);
        if (hits_.empty()) return kKeysARound;
        const std::size_t wanted = missing * looked_at_ / hits_.size() + 1;
        return static_cast<int>(std::min(wanted, std::size_t{kKeysARound}));
    }

    void add_hits(std::vector<MemberKey> keys) {
        if (keys.empty()) return;
        looked_at_ += keys.size();
        std::unordered_set<UserId> good;
        if (!conditions_.empty()) {
            good = store::filter_members(org_, ids_of(keys, kKeysARound), conditions_);
        }
        for (MemberKey& key : keys) {
            const bool is_hit = key.is_hit && (conditions_.empty() || good.contains(key.user_id));
            if (is_hit && hits_.size() == limit_) {
                has_more_ = true;
                return;
            }
            if (is_hit) hits_.push_back(key);
            last_ = std::move(key);
        }
    }

    db::OrgStore& org_;
    const MemberFilter& filter_;
    store::MemberConditions conditions_;
    std::size_t limit_;
    MemberKey last_;
    std::size_t looked_at_ = 0;
    bool has_more_ = true;
    std::vector<MemberKey> hits_;
};

// Adds the members of these keys in their order; those who were removed meanwhile are not there.
// The bytes that it added.
std::size_t add_members(db::OrgStore& org, std::span<const MemberKey> keys,
                        std::vector<rules::Member>& to) {
    std::unordered_map<UserId, rules::Member> found;
    for (auto& member : store::find_members(org, ids_of(keys, kRowsARead))) {
        const UserId id = member.user_id;
        found.emplace(id, std::move(member));
    }
    std::size_t bytes = 0;
    for (const MemberKey& key : keys) {
        const auto member = found.find(key.user_id);
        if (member == found.end()) continue;
        bytes += member->second.attributes.size();
        to.push_back(std::move(member->second));
    }
    return bytes;
}

}  // namespace

MemberPage list_members(Context& context, OrgId organization, const MemberFilter& filter,
                        std::string_view position, int limit) {
    const MemberKey after = key_of(position);
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        KeyReader keys(org, filter, after, limit);
        keys.run();
        MemberPage page;
        std::size_t bytes = 0;
        std::span<const MemberKey> left = keys.hits();
        while (!left.empty() && bytes < kPageBytes) {
            const auto some = left.first(std::min(kRowsARead, left.size()));
            bytes += add_members(org, some, page.members);
            left = left.subspan(some.size());
            if (!left.empty()) page.next = position_of(some.back());
        }
        if (left.empty()) {
            const auto last = keys.last();
            page.next = last ? std::optional(position_of(*last)) : std::nullopt;
        }
        return page;
    });
}

}  // namespace muster::service
