#include "http/fcgi_request.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <string>

namespace muster::http {
namespace {

std::string value_of(const Parameters& parameters, std::string_view name) {
    return std::string(parameters.find(name).value_or(""));
}

// nullopt if the client did not send the header.
std::optional<std::string> sent_value(const Parameters& parameters, std::string_view name) {
    const auto value = parameters.find(name);
    return value ? std::optional<std::string>(*value) : std::nullopt;
}

// nullopt also for an empty value: nginx sends "" for an unknown value.
std::optional<std::string> filled_value(const Parameters& parameters, std::string_view name) {
    auto value = sent_value(parameters, name);
    return value && value->empty() ? std::nullopt : value;
}

// All values of a repeated header, joined (RFC 9110 "Field Lines"). A joined Origin is not a valid
// origin.
std::optional<std::string> joined_value(const Parameters& parameters, std::string_view name) {
    std::optional<std::string> joined;
    for (const std::string_view value : parameters.find_all(name)) {
        joined = joined ? *joined + ", " + std::string(value) : std::string(value);
    }
    return joined;
}

// nginx's $msec, "1763700000.123": the time when it passed the complete request on.
Timestamp arrival(const Parameters& parameters) {
    std::string text = value_of(parameters, "REQUEST_TIME_MSEC");
    text.erase(std::remove(text.begin(), text.end(), '.'), text.end());
    const auto milliseconds = parse_number<std::int64_t>(text);
    return milliseconds ? Timestamp::of_wall_clock(*milliseconds) : Timestamp::now();
}

// What a browser says about itself and its page.
void set_page(Request& request, const Parameters& sent) {
    request.cookie = value_of(sent, "HTTP_COOKIE");
    request.origin = joined_value(sent, "HTTP_ORIGIN");
    request.referer = joined_value(sent, "HTTP_REFERER");
    request.fetch_site = joined_value(sent, "HTTP_SEC_FETCH_SITE");
    request.has_console_header = sent.find("HTTP_X_MUSTER_CONSOLE") == "1";
    request.user_agent = value_of(sent, "HTTP_USER_AGENT");
    for (const char* const name : {"HTTP_SEC_PURPOSE", "HTTP_PURPOSE", "HTTP_X_MOZ"}) {
        request.is_prefetch = request.is_prefetch || names_prefetch(sent.find(name).value_or(""));
    }
}

void set_lengths(Request& request, const Parameters& sent) {
    request.announced_length = parse_number<std::size_t>(sent.find("CONTENT_LENGTH").value_or(""));
    if (!request.is_credential_check) {
        request.content_length = request.announced_length.value_or(0);
    }
}

}  // namespace

Request make_request(const Parameters& sent) {
    Request request;
    request.method = method_of(sent.find("REQUEST_METHOD").value_or(""));
    const std::string_view uri = sent.find("REQUEST_URI").value_or("");
    request.path = uri.substr(0, uri.find('?'));
    request.query = value_of(sent, "QUERY_STRING");
    request.content_type = value_of(sent, "CONTENT_TYPE");
    request.content_encoding = joined_value(sent, "HTTP_CONTENT_ENCODING").value_or("");
    request.repeated_headers = repeated_headers(sent.names());
    request.authorization = value_of(sent, "HTTP_AUTHORIZATION");
    request.has_idempotency_key = sent.find("HTTP_IDEMPOTENCY_KEY").has_value();
    request.idempotency_key = value_of(sent, "HTTP_IDEMPOTENCY_KEY");
    request.if_none_match = joined_value(sent, "HTTP_IF_NONE_MATCH").value_or("");
    request.if_match = sent_value(sent, "HTTP_IF_MATCH");
    request.organization = sent_value(sent, "HTTP_X_ORGANIZATION");
    request.has_expect_organization = sent.find("HTTP_X_EXPECT_ORGANIZATION").has_value();
    request.expect_organization = value_of(sent, "HTTP_X_EXPECT_ORGANIZATION");
    request.signature = value_of(sent, "HTTP_X_SVC_SIGNATURE");
    set_page(request, sent);
    request.geo_country = filled_value(sent, "GEO_COUNTRY");
    request.geo_region = filled_value(sent, "GEO_REGION");
    request.request_id = value_of(sent, "REQUEST_ID");
    request.remote_address = value_of(sent, "REMOTE_ADDR");
    request.arrived = arrival(sent);
    request.charged_policy = value_of(sent, "CHARGED_POLICY");
    request.charged_rate = value_of(sent, "CHARGED_RATE");
    request.is_credential_check = sent.find("CREDENTIAL_CHECK") == "1";
    set_lengths(request, sent);
    return request;
}

}  // namespace muster::http
