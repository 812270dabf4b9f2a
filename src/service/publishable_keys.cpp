#include "service/publishable_keys.hpp"

#include "base/crypto.hpp"
#include "db/transaction.hpp"
#include "service/credentials.hpp"
#include "store/publishable_keys.hpp"

#include <algorithm>

namespace muster::service {
namespace {

void touch(Context& context, const rules::PublishableKey& key, Timestamp now) {
    if (!is_touch_due(key, now)) return;
    context.database.read([&](db::Tx& tx) {  // one statement, a transaction of its own
        db::OrgStore org(tx, key.organization_id);
        store::touch_publishable_key(org, key.id, now, now - kTouchInterval);
    });
}

}  // namespace

bool is_publishable_token(std::string_view text) {
    return std::any_of(
        rules::kPublishableKeyKinds.begin(), rules::kPublishableKeyKinds.end(),
        [&](rules::PublishableKeyKind kind) { return is_credential(prefix_of(kind), text); });
}

std::vector<rules::PublishableKey> find_publishable_keys(Context& context,
                                                         std::span<const std::string> tokens) {
    if (tokens.empty()) return {};
    auto keys =
        context.database.read([&](db::Tx& tx) { return store::find_publishable_keys(tx, tokens); });
    const Timestamp now = Timestamp::now();
    std::erase_if(keys, [&](const auto& key) { return is_dead(key, now); });
    for (const rules::PublishableKey& key : keys) touch(context, key, now);
    return keys;
}

}  // namespace muster::service
