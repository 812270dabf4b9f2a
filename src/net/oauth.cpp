#include "net/oauth.hpp"

#include "base/settings/checks.hpp"
#include "net/http_client.hpp"

namespace muster::net {
namespace {

std::string word_of(TransportFailure failure) {
    switch (failure) {
        case TransportFailure::BadUrl:
            return "bad_url";
        case TransportFailure::Resolve:
            return "resolve";
        case TransportFailure::Connect:
            return "connect";
        case TransportFailure::Tls:
            return "tls";
        case TransportFailure::Timeout:
            return "timeout";
        case TransportFailure::TooLarge:
            return "too_large";
        case TransportFailure::Broken:
            break;
    }
    return "broken";
}

HttpSettings settings_for(const OAuthRequest& request, const OAuthBounds& bounds) {
    HttpSettings settings;
    settings.ca_file = request.ca_file;
    settings.connect_seconds = bounds.connect_seconds;
    settings.total_seconds = bounds.total_seconds;
    settings.max_body = bounds.max_body;
    return settings;
}

}  // namespace

OAuthReply call_oauth(const OAuthRequest& request, const OAuthBounds& bounds) {
    // The configuration was already checked for this. The check is repeated here, where secrets are
    // sent.
    if (!is_secret_url(request.url)) return {.status = 0, .body = {}, .failure = "insecure"};
    HttpRequest sent;
    sent.method = request.body ? "POST" : "GET";
    sent.url = request.url;
    sent.headers = request.headers;
    if (request.body) sent.body = request.body->reveal();
    // Each call opens its own connection: calls are rare, and providers do not share one.
    HttpClient client(settings_for(request, bounds));
    try {
        HttpResponse response = client.perform(sent);
        return {.status = response.status, .body = Secret(std::move(response.body)), .failure = ""};
    } catch (const TransportError& error) {
        return {.status = 0, .body = {}, .failure = word_of(error.failure())};
    }
}

}  // namespace muster::net
