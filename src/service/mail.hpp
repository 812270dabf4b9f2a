#pragma once
#include <string>
#include "base/sealing.hpp"
#include "base/time.hpp"
#include "service/context.hpp"
namespace muster::service {
struct Mail {
    std::string to;
    std::string subject;
    std::string text;
};
void queue_mail(db::Tx& tx, const KeyRing& keys, const Mail& mail, Timestamp now,
                Timestamp expires_at);
}  // namespace muster::service
