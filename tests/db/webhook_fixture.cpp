#include "db/webhook_fixture.hpp"

#include "store/access/admins.hpp"

namespace muster::test {

void WebhookFixture::seat(OrgId org, const std::string& email, std::string_view role) {
    as(org, [&](service::OrgTransaction& transaction) {
        db::OrgStore store(transaction.tx, org);
        const auto admin = store::find_or_insert_admin(transaction.tx, email, transaction.now);
        store::insert_seat(store, admin, role, transaction.now);
    });
}

}  // namespace muster::test
