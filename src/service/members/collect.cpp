#include "service/members/collect.hpp"

#include "base/error.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "rules/members/fields.hpp"
#include "service/attributes.hpp"
#include "service/idempotency_records.hpp"
#include "service/members/create.hpp"
#include "service/quotas.hpp"

#include <set>
#include <utility>

namespace muster::service {
namespace {

// One transaction for many requests. Each step takes the requests that have no outcome yet.
class MemberRound {
  public:
    MemberRound(db::Tx& tx, const Context& context, std::vector<const CollectedMember*> calls)
        : tx_(tx), context_(context), calls_(std::move(calls)), outcomes_(calls_.size()) {}

    std::vector<PartOutcome> run() {
        replay();
        choose();
        check();
        create();
        return std::move(outcomes_);
    }

  private:
    using Claims = std::vector<const IdempotencyClaim*>;

    // Answers the requests whose Idempotency-Key is known. One look-up for each organization.
    void replay() {
        std::map<OrgId, Claims> claims;
        for (const CollectedMember* call : calls_) {
            if (call->claim) claims[call->actor.organization].push_back(&*call->claim);
        }
        for (const auto& [organization, its_claims] : claims) {
            OrgTransaction transaction{tx_, {organization}, now_};
            records_.try_emplace(organization, context_, transaction, its_claims,
                                 store::RecordLock::None);
        }
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            if (!calls_[i]->claim) continue;
            attempt(i, [&] {
                auto reply = records_of(*calls_[i]).find(*calls_[i]->claim);
                if (reply) outcomes_[i] = std::vector{std::move(*reply)};
            });
        }
    }

    // The first request of each address and of each key. A later one with the same address or key
    // waits, and so do those that share an address or a key with it: the order is kept.
    void choose() {
        std::set<std::string_view> addresses;
        std::set<std::pair<OrgId, std::string_view>> keys;
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            if (outcomes_[i]) continue;
            const CollectedMember& call = *calls_[i];
            bool is_first = addresses.insert(call.fields->email).second;
            if (call.claim) {
                is_first =
                    keys.emplace(call.actor.organization, call.claim->key_hash).second && is_first;
            }
            if (is_first) chosen_.push_back(i);
        }
    }

    // Refuses the requests of organizations that have used up MemberBytes. Validates attributes
    // with the registries, which stay locked against changes.
    void check() {
        std::map<OrgId, rules::AttributeRegistry> registries;
        for (const std::size_t i : chosen_) {
            if (calls_[i]->fields->attributes.empty()) continue;
            const OrgId organization = calls_[i]->actor.organization;
            if (registries.contains(organization)) continue;
            registries.emplace(organization, attribute_registry_for_writing(tx_, organization));
        }
        for (const std::size_t i : chosen_) {
            const CollectedMember& call = *calls_[i];
            attempt(i, [&] {
                reject_full({tx_, call.actor, now_}, rules::Quota::MemberBytes,
                            context_.settings.limits);
                if (call.fields->attributes.empty()) return;
                check_attributes(registries.at(call.actor.organization), *call.fields);
            });
            if (!outcomes_[i] || !call.claim) continue;
            const IdempotencyClaim* const claim = &*call.claim;
            records_of(call).retry_if_recorded({&claim, 1});
        }
        std::erase_if(chosen_, [&](std::size_t i) { return outcomes_[i].has_value(); });
    }

    void create() {
        std::vector<MemberCreation> creations;
        creations.reserve(chosen_.size());
        for (const std::size_t i : chosen_) {
            creations.push_back({&calls_[i]->actor, calls_[i]->fields.get()});
        }
        const auto created = create_members(tx_, creations, now_);
        std::vector<StoredReply> replies;
        replies.reserve(chosen_.size());
        std::map<OrgId, std::vector<ClaimedReply>> claimed;
        for (std::size_t n = 0; n < chosen_.size(); ++n) {
            const CollectedMember& call = *calls_[chosen_[n]];
            replies.push_back(call.reply(created[n]));
            if (!call.claim) continue;
            claimed[call.actor.organization].push_back({&*call.claim, &replies.back()});
        }
        for (const auto& [organization, its_replies] : claimed) {
            records_.at(organization).record(its_replies);
        }
        for (std::size_t n = 0; n < chosen_.size(); ++n) {
            outcomes_[chosen_[n]] = std::vector{std::move(replies[n])};
        }
    }

    template <class Step>
    void attempt(std::size_t i, const Step& step) {
        try {
            step();
        } catch (const Error&) {
            outcomes_[i] = std::current_exception();
        }
    }

    IdempotencyRecords& records_of(const CollectedMember& call) {
        return records_.at(call.actor.organization);
    }

    db::Tx& tx_;
    const Context& context_;
    std::vector<const CollectedMember*> calls_;
    std::vector<PartOutcome> outcomes_;
    Timestamp now_ = Timestamp::now();
    std::map<OrgId, IdempotencyRecords> records_;
    std::vector<std::size_t> chosen_;
};

}  // namespace

std::vector<BatchPart> member_parts(const Context& context, const MemberCalls& calls) {
    std::vector<BatchPart> parts;
    parts.reserve(calls.size());
    for (const auto& [index, collected] : calls) {
        const CollectedMember* call = collected;  // a structured binding cannot be captured
        parts.push_back(
            {call->actor.organization, {index}, [&context, call](db::Tx& tx) {
                 const auto work = [&](OrgTransaction& transaction) {
                     reject_full(transaction, rules::Quota::MemberBytes, context.settings.limits);
                     return call->reply(create_member(transaction, *call->fields));
                 };
                 return std::vector{transact_in(tx, context, call->actor, call->claim, work)};
             }});
    }
    return parts;
}

std::vector<std::size_t> transactions_before(const MemberCalls& calls) {
    std::map<std::string_view, std::size_t> of_addresses;
    std::map<std::pair<OrgId, std::string_view>, std::size_t> of_keys;
    std::size_t no_key = 0;
    std::vector<std::size_t> before;
    before.reserve(calls.size());
    for (const auto& [index, call] : calls) {
        std::size_t& of_address = of_addresses[call->fields->email];
        std::size_t& of_key =
            call->claim ? of_keys[{call->actor.organization, call->claim->key_hash}] : no_key;
        const std::size_t its = call->claim ? std::max(of_address, of_key) : of_address;
        before.push_back(its);
        of_address = of_key = its + 1;
    }
    return before;
}

std::vector<PartOutcome> write_members_together(db::Tx& tx, const Context& context,
                                                const MemberCalls& calls,
                                                std::span<const BatchPart> parts) {
    std::vector<const CollectedMember*> remaining;
    remaining.reserve(parts.size());
    for (const BatchPart& part : parts) remaining.push_back(calls.at(part.indexes.front()));
    return MemberRound(tx, context, std::move(remaining)).run();
}

}  // namespace muster::service
