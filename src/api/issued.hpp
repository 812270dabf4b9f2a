// Records that are returned once together with their secrets.
#pragma once

#include "base/json.hpp"
#include "base/record.hpp"
#include "base/secret.hpp"

#include <array>
#include <string>
#include <string_view>

namespace muster::api {

// A value has the record and its secrets as members. In the JSON object, the secrets follow the
// record's fields. A reply of this shape is recorded encrypted (api/answers.hpp).
template <const auto& kRecord, auto kRecordMember, auto... kSecretMembers>
struct IssuedShape {
    using Value = typename MemberOf<decltype(kRecordMember)>::Owner;
    static constexpr bool kShowsSecrets = true;
    // A session needs a recent second factor for such a reply (ReplyShape::shows_secret).
    static constexpr bool kIssuesSecrets = true;

    std::string_view name;
    std::array<std::string_view, sizeof...(kSecretMembers)> secret_names;

    void write(JsonWriter& to, const Value& value) const {
        to.begin_object();
        for (const auto& entry : kRecord.fields) {
            to.key(entry.name);
            entry.write(to, value.*kRecordMember);
        }
        std::size_t i = 0;
        ((to.key(secret_names.at(i++)), to.string((value.*kSecretMembers).reveal())), ...);
        to.end_object();
    }

    Json::Value schema() const {
        Json::Value schema = kRecord.schema();
        for (const std::string_view secret : secret_names) {
            schema["properties"][std::string(secret)] =
                described(JsonType<std::string>::schema(),
                          "A secret. Only this reply and its replays contain it.", "");
            schema["required"].append(std::string(secret));
        }
        return schema;
    }
};

}  // namespace muster::api
