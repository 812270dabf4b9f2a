// Records that are answered once with the secrets that were made for them.
#pragma once

#include "base/crypto.hpp"
#include "base/json.hpp"
#include "base/record.hpp"
#include "service/context.hpp"
#include "service/idempotency.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace muster::api {

// The record's schema with a text for each of these names, which stand behind its fields.
template <std::size_t kCount>
Json::Value issued_schema(Json::Value record,
                          const std::array<std::string_view, kCount>& secret_names) {
    for (const std::string_view name : secret_names) {
        record["properties"][std::string(name)] =
            described(JsonType<std::string>::schema(),
                      "A secret. Only this reply and its replays show it.", "");
        record["required"].append(std::string(name));
    }
    return record;
}

// 201 with the record (an object's JSON) and its secrets: recorded sealed.
template <std::size_t kCount>
service::StoredReply issued_reply(std::string record,
                                  const std::array<std::string_view, kCount>& secret_names,
                                  const std::array<Secret, kCount>& secrets) {
    record.pop_back();
    for (std::size_t i = 0; i < kCount; ++i) {
        record += ',';
        append_json_string(record, secret_names[i]);
        record += ':';
        append_json_string(record, secrets[i].reveal());
    }
    service::StoredReply reply;
    reply.status = 201;
    reply.body = std::move(record) + "}";
    reply.is_secret = true;
    return reply;
}

}  // namespace muster::api
