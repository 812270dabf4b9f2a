#include "rules/content/html_escape.hpp"

namespace muster::rules {

void append_escaped_html(std::string& to, std::string_view text) {
    for (const char c : text) {
        switch (c) {
            case '&':
                to += "&amp;";
                break;
            case '<':
                to += "&lt;";
                break;
            case '>':
                to += "&gt;";
                break;
            case '"':
                to += "&quot;";
                break;
            case '\r':
                to += '\n';
                break;
            default:
                if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') to += c;
        }
    }
}

std::string escaped_html(std::string_view text) {
    std::string escaped;
    append_escaped_html(escaped, text);
    return escaped;
}

}  // namespace muster::rules
