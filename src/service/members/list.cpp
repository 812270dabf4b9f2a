#include "service/members/list.hpp"

#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "rules/members/member.hpp"
#include "rules/members/member_csv.hpp"
#include "service/attributes.hpp"
#include "service/members/by_user.hpp"
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
constexpr int kKeysPerRound =
    250;  // the number of keys to read if they must be filtered after the query
constexpr int kRounds = 8;
constexpr std::size_t kRowsPerRead = 25;
constexpr std::size_t kPageBytes = std::size_t{4} << 20U;
// The size of the attributes that a call searches, unless those of one member are larger.
constexpr std::size_t kAttributeBytes = std::size_t{16} << 20U;
const MemberId kLastMember(*Uuid::from_bytes(std::string(kIdBytes, '\xff')));

// A position is the user's id followed by the term.
std::string position_of(const MemberKey& key) {
    return std::string(key.user_id.bytes()) + key.term;
}

MemberKey key_of(std::string_view position) {
    if (position.empty()) return {"", UserId(), true};
    const auto id = Uuid::from_bytes(position.substr(0, kIdBytes));
    if (!id) throw std::invalid_argument("the position is not from a previous page");
    return {std::string(position.substr(kIdBytes)), UserId(*id), true};
}

std::vector<MemberKey> read_updated(db::OrgStore& org, Timestamp since, const MemberKey& after,
                                    int limit) {
    const auto when = parse_number<std::int64_t>(after.term);
    // No user has the zero id, so a first page includes all members of that very millisecond.
    return store::page_members_updated(org, when ? Timestamp(*when) : since, after.user_id, limit);
}

// Whether the time decides what is read, if no earlier condition is given.
bool leads_by_time(const MemberFilter& filter) {
    return filter.updated_since && filter.order != MemberOrder::Stable;
}

// Newest first. The term of the position is the id of the last member.
std::vector<MemberKey> read_newest(db::OrgStore& org, const MemberKey& after, int limit) {
    if (after.term.empty()) return store::page_newest_members(org, kLastMember, limit);
    const auto id = Uuid::from_bytes(after.term);
    if (!id) throw std::invalid_argument("the position is not from a previous page");
    return store::page_newest_members(org, MemberId(*id), limit);
}

// The next keys of the index for the first condition that is given.
std::vector<MemberKey> read_index(db::OrgStore& org, const MemberFilter& filter,
                                  const MemberKey& after, int limit) {
    if (filter.email) {
        return after.user_id == UserId() ? store::find_member_key(org, *filter.email)
                                         : std::vector<MemberKey>();
    }
    if (filter.external_id) {
        return store::page_members_of_external_id(org, *filter.external_id, after.user_id, limit);
    }
    if (filter.prefix) return store::page_members_by_prefix(org, *filter.prefix, after, limit);
    if (leads_by_time(filter)) return read_updated(org, *filter.updated_since, after, limit);
    if (filter.order == MemberOrder::Newest) return read_newest(org, after, limit);
    if (filter.status) {
        return store::page_members_of_status(org, *filter.status, after.user_id, limit);
    }
    return store::page_members(org, after.user_id, limit);
}

struct ReadKeys {
    std::vector<MemberKey> keys;
    std::vector<SourcedMember> sourced = {};  // one for each key; none without a source
    bool has_more = true;
};

// The next keys of the source, or of the index.
ReadKeys read_keys(db::OrgStore& org, const MemberFilter& filter, const MemberKey& after,
                   int limit) {
    ReadKeys read;
    if (!filter.source) {
        read.keys = read_index(org, filter, after, limit);
        read.has_more = static_cast<int>(read.keys.size()) == limit;
        return read;
    }
    auto sourced = filter.source(org, after.term, limit);
    for (const SourcedMember& member : sourced.members) {
        read.keys.push_back({member.place, member.user, true});
    }
    read.sourced = std::move(sourced.members);
    read.has_more = sourced.has_more;
    return read;
}

// The conditions that the chosen index does not cover.
store::MemberConditions remaining_conditions(const MemberFilter& filter) {
    store::MemberConditions left{filter.external_id, filter.status, filter.updated_since,
                                 filter.prefix, filter.country};
    if (filter.source) {
        left.email = filter.email;
        return left;
    }
    if (filter.email) return left;
    if (filter.external_id) {
        left.external_id.reset();
    } else if (filter.prefix) {
        left.prefix.reset();
    } else if (leads_by_time(filter)) {
        left.updated_since.reset();
    } else if (filter.order != MemberOrder::Newest) {
        left.status.reset();
    }
    return left;
}

// Whether keys must be filtered after they were read. A source may name users who left.
bool is_filtered(const MemberFilter& filter) {
    return filter.source || !filter.attributes.empty() || !remaining_conditions(filter).empty();
}

// The ids, padded to `size` with the last one. A fixed number of ids needs only one prepared
// statement.
std::vector<UserId> padded(std::vector<UserId> ids, std::size_t size) {
    ids.resize(std::max(size, ids.size()), ids.back());
    return ids;
}
std::vector<UserId> ids_of(std::span<const MemberKey> keys, std::size_t size) {
    std::vector<UserId> ids;
    ids.reserve(size);
    for (const MemberKey& key : keys) ids.push_back(key.user_id);
    return padded(std::move(ids), size);
}

struct Matching {
    std::unordered_map<UserId, MemberId> members;
    std::size_t bytes = 0;  // of the attributes that were read

    std::vector<UserId> users() const {
        std::vector<UserId> users;
        users.reserve(members.size());
        for (const auto& [user, membership] : members) users.push_back(user);
        return users;
    }
};

// Removes the users who do not have the attributes.
void keep_with_attributes(db::OrgStore& org, Matching& matching,
                          const std::vector<rules::AttributeCondition>& attributes) {
    for (const rules::AttributeCondition& condition : attributes) {
        if (matching.members.empty()) break;
        const auto having =
            store::match_attribute(org, padded(matching.users(), kKeysPerRound), condition);
        std::erase_if(matching.members,
                      [&](const auto& member) { return !having.users.contains(member.first); });
        matching.bytes += having.bytes;
    }
}

// Reads keys in rounds until `limit` of them match all conditions.
class KeyReader {
  public:
    KeyReader(db::OrgStore& org, const MemberFilter& filter, MemberKey after, int limit,
              int rounds = kRounds)
        : org_(org),
          filter_(filter),
          conditions_(remaining_conditions(filter)),
          is_filtered_(is_filtered(filter)),
          limit_(static_cast<std::size_t>(limit)),
          rounds_(rounds),
          last_(std::move(after)) {}

    void run() {
        for (int round = 0; round < rounds_ && is_incomplete(); ++round) {
            auto read = read_keys(org_, filter_, last_, round_size());
            has_more_ = read.has_more;
            add_hits(std::move(read));
        }
    }

    // The first `limit` keys that match all conditions.
    const std::vector<MemberKey>& hits() const { return hits_; }
    // The last key examined; nullopt if no more follow.
    std::optional<MemberKey> last() const {
        return has_more_ ? std::optional(last_) : std::nullopt;
    }

  private:
    bool is_incomplete() const {
        return has_more_ && hits_.size() < limit_ && bytes_ < kAttributeBytes;
    }

    // One key more than are missing shows whether more follow. If keys did not match, the number is
    // scaled by the share that matched so far.
    int round_size() const {
        if (is_filtered_) return kKeysPerRound;
        const std::size_t missing = limit_ + 1 - hits_.size();
        if (examined_ == 0) return static_cast<int>(missing);
        if (hits_.empty()) return kKeysPerRound;
        const std::size_t estimate = missing * examined_ / hits_.size() + 1;
        return static_cast<int>(std::min(estimate, std::size_t{kKeysPerRound}));
    }

    void add_hits(ReadKeys read) {
        if (read.keys.empty()) return;
        examined_ += read.keys.size();
        drop_unmatched(read);
        for (MemberKey& key : read.keys) {
            const bool is_hit = key.is_hit;
            if (is_hit && hits_.size() == limit_) {
                has_more_ = true;
                return;
            }
            if (is_hit) hits_.push_back(key);
            last_ = std::move(key);
        }
    }

    // Marks the keys whose members do not match.
    void drop_unmatched(ReadKeys& read) {
        if (!is_filtered_) return;
        Matching matching{
            store::filter_members(org_, ids_of(read.keys, kKeysPerRound), conditions_)};
        if (!filter_.attributes.empty()) leave_large(read, matching);
        keep_with_attributes(org_, matching, filter_.attributes);
        bytes_ += matching.bytes;
        for (std::size_t i = 0; i < read.keys.size(); ++i) {
            const auto member = matching.members.find(read.keys[i].user_id);
            const bool is_match = member != matching.members.end() &&
                                  (read.sourced.empty() || member->second <= read.sourced[i].until);
            if (!is_match) read.keys[i].is_hit = false;
        }
    }

    // Leaves the last keys to the next call if the attributes to search would have too many bytes.
    // Reading the sizes costs less than searching.
    void leave_large(ReadKeys& read, Matching& matching) {
        if (matching.members.empty()) return;
        const auto sizes = store::find_member_sizes(org_, padded(matching.users(), kKeysPerRound));
        const std::size_t most = (kAttributeBytes - bytes_) / filter_.attributes.size();
        Matching kept;
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < read.keys.size(); ++i) {
            const auto member = matching.members.find(read.keys[i].user_id);
            if (member == matching.members.end()) continue;
            const auto size = sizes.find(member->first);
            if (size == sizes.end()) continue;  // deleted meanwhile
            bytes += static_cast<std::size_t>(size->second);
            if (i > 0 && bytes > most) {
                end_before(read, i);
                break;
            }
            kept.members.insert(*member);
        }
        matching = std::move(kept);
    }

    // Ends the call before this key.
    void end_before(ReadKeys& read, std::size_t index) {
        const auto from = static_cast<std::ptrdiff_t>(index);
        read.keys.erase(read.keys.begin() + from, read.keys.end());
        if (!read.sourced.empty()) {
            read.sourced.erase(read.sourced.begin() + from, read.sourced.end());
        }
        has_more_ = true;
        bytes_ = kAttributeBytes;
    }

    db::OrgStore& org_;
    const MemberFilter& filter_;
    store::MemberConditions conditions_;
    bool is_filtered_;
    std::size_t limit_;
    int rounds_;
    MemberKey last_;
    std::size_t examined_ = 0;
    std::size_t bytes_ = 0;
    bool has_more_ = true;
    std::vector<MemberKey> hits_;
};

// Reads a run of the list.
MemberRun run_of(KeyReader& keys) {
    keys.run();
    MemberRun run;
    run.users.reserve(keys.hits().size());
    run.positions.reserve(keys.hits().size());
    for (const MemberKey& key : keys.hits()) {
        run.users.push_back(key.user_id);
        run.positions.push_back(position_of(key));
    }
    if (const auto last = keys.last()) run.next = position_of(*last);
    return run;
}

// The members of a page, until their attributes have kPageBytes.
class PageReader {
  public:
    explicit PageReader(db::OrgStore& org) : org_(org) {}

    // Appends the members of these keys in order, without those deleted in the meantime. Returns
    // how many of the keys the page has now.
    std::size_t add(std::span<const MemberKey> keys, std::vector<rules::Member>& to) {
        auto found = by_user(store::find_members(org_, ids_of(keys, kRowsPerRead)));
        std::size_t done = 0;
        while (done < keys.size() && !is_full()) {
            const auto member = found.find(keys[done++].user_id);
            if (member == found.end()) continue;
            bytes_ += member->second.attributes.size();
            to.push_back(std::move(member->second));
        }
        return done;
    }
    bool is_full() const { return bytes_ >= kPageBytes; }

  private:
    db::OrgStore& org_;
    std::size_t bytes_ = 0;
};

// The members among these users.
std::unordered_map<UserId, rules::Member> read_members(Context& context, OrgId organization,
                                                       std::span<const UserId> users) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return by_user(
            store::find_members(org, padded({users.begin(), users.end()}, kRowsPerRead)));
    });
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
        PageReader reader(org);
        std::span<const MemberKey> left = keys.hits();
        while (!left.empty() && !reader.is_full()) {
            const auto some = left.first(std::min(kRowsPerRead, left.size()));
            const std::size_t done = reader.add(some, page.members);
            left = left.subspan(done);
            if (!left.empty()) page.next = position_of(some[done - 1]);
        }
        if (left.empty()) {
            const auto last = keys.last();
            page.next = last ? std::optional(position_of(*last)) : std::nullopt;
        }
        return page;
    });
}

MemberTotal count_members(Context& context, OrgId organization, const MemberFilter& filter,
                          int most) {
    MemberFilter counted = filter;
    counted.order = MemberOrder::Filter;
    // Without further conditions one round reads `most` + 1 entries.
    const int rounds = is_filtered(counted) ? most / kKeysPerRound + 1 : 1;
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        KeyReader keys(org, counted, key_of(""), most, rounds);
        keys.run();
        return MemberTotal{static_cast<std::int64_t>(keys.hits().size()), !keys.last()};
    });
}

MemberRun find_member_run(Context& context, OrgId organization, const MemberFilter& filter,
                          std::string_view position, int limit) {
    const MemberKey after = key_of(position);
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        KeyReader keys(org, filter, after, limit, limit / kKeysPerRound + 1);
        return run_of(keys);
    });
}

MemberRun find_next_members(db::OrgStore& org, const MemberFilter& filter,
                            std::string_view position, int limit) {
    KeyReader keys(org, filter, key_of(position), limit, 1);
    return run_of(keys);
}

std::vector<UserId> matching_members(db::OrgStore& org, std::span<const UserId> users,
                                     const MemberFilter& filter) {
    if (users.empty()) return {};
    const store::MemberConditions conditions{filter.external_id, filter.status,
                                             filter.updated_since, filter.prefix, filter.country};
    Matching matching{store::filter_members(
        org, padded({users.begin(), users.end()}, kKeysPerRound), conditions)};
    keep_with_attributes(org, matching, filter.attributes);
    return matching.users();
}

std::size_t write_member_export(Context& context, OrgId organization, std::span<const UserId> users,
                                bool raw, const std::function<void(std::string_view)>& sink,
                                const ExportLimits& limits) {
    rules::MemberCsv rows(attribute_registry(context, organization),
                          raw ? CsvCells::Raw : CsvCells::Guarded);
    std::string text;
    rows.append_header(text);
    sink(text);
    std::size_t bytes = text.size();
    std::size_t read = 0;
    std::size_t done = 0;
    while (done < users.size()) {
        const auto some = users.subspan(done, std::min(kRowsPerRead, users.size() - done));
        const auto members = read_members(context, organization, some);
        for (const UserId& user : some) {
            text.clear();
            const auto member = members.find(user);
            if (member != members.end()) {
                rows.append(text, member->second);
                read += member->second.attributes.size();
            }
            bytes += text.size();
            if (done > 0 && (bytes > limits.text || read > limits.attributes)) return done;
            if (!text.empty()) sink(text);
            ++done;
        }
    }
    return done;
}

std::vector<rules::AttributeCondition> attribute_conditions(
    db::Tx& tx, OrgId organization, const std::map<std::string, std::string>& texts,
    std::string_view path, Faults& faults) {
    if (texts.empty()) return {};
    return rules::attribute_conditions(attribute_registry(tx, organization), texts, path, faults);
}

std::vector<rules::AttributeCondition> attribute_conditions(
    Context& context, OrgId organization, const std::map<std::string, std::string>& texts,
    std::string_view path, Faults& faults) {
    return context.database.autocommit(
        [&](db::Tx& tx) { return attribute_conditions(tx, organization, texts, path, faults); });
}

}  // namespace muster::service
