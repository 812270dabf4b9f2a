#include "rules/content/html_sanitizer.hpp"

#include "base/text.hpp"

#include <gumbo.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

namespace muster::rules {
namespace {

// Limits of one parse, each above the needs of an article of 200 KiB. With all of them a parse
// takes at most about 100 ms of processor time (html_sanitizer_test.cpp "worst case"). The parser's
// time grows
// * with tags times depth, because many tags search the open elements,
// * with the square of a tag's attributes,
// * with the square of the open formatting elements that have attributes: it compares each with all
//   others,
// * with characters times depth, because each character may search the open elements.
// Its memory grows with formatting elements that are re-opened in every paragraph.
constexpr std::size_t kMostTags = 5'000;
constexpr std::size_t kMostAttributes = 5'000;
constexpr std::size_t kMostFormatting = 1'000;
constexpr std::size_t kMostTextSteps = 400'000'000;
constexpr std::size_t kMostTemplates = 500;  // each tag searches the open templates
constexpr std::size_t kMostMemory = 64U << 20;
constexpr std::size_t kDeepest = 100;  // nesting depth of the output
constexpr int kPasses = 5;

// ------------------------------------------------------------------ the allowlist

using Sanitizer = std::optional<std::string> (*)(std::string_view value);

std::optional<std::string> any_text(std::string_view value) {
    return std::string(value);
}

std::optional<std::string> number(std::string_view value) {
    constexpr unsigned kHighest = 65'534;
    const auto parsed = parse_number<unsigned>(trimmed(value));
    if (!parsed || *parsed > kHighest) return std::nullopt;
    return std::to_string(*parsed);
}

std::optional<std::string> empty_text(std::string_view) {
    return "";
}

template <const auto& Choices>
std::optional<std::string> choice(std::string_view value) {
    std::string copy(trimmed(value));
    ascii_lower(copy);
    if (std::find(Choices.begin(), Choices.end(), copy) == Choices.end()) return std::nullopt;
    return copy;
}
constexpr std::array<std::string_view, 3> kDirections = {"ltr", "rtl", "auto"};
constexpr std::array<std::string_view, 4> kScopes = {"row", "col", "rowgroup", "colgroup"};

std::optional<std::string> language(std::string_view value) {
    constexpr std::size_t kLongest = 35;
    const bool is_one = value.size() <= kLongest &&
                        value.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") ==
                            std::string_view::npos;
    return is_one ? std::optional(std::string(value)) : std::nullopt;
}

// Normalizes a URL as browsers do: removes white space and control characters around it, and line
// breaks and tabs inside ("java\tscript:").
std::string normalized_url(std::string_view url) {
    const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
    while (!url.empty() && is_blank(url.front())) url.remove_prefix(1);
    while (!url.empty() && is_blank(url.back())) url.remove_suffix(1);
    std::string read;
    for (const char c : url) {
        if (c != '\t' && c != '\n' && c != '\r') read += c;
    }
    return read;
}

// Returns an absolute URL with one of these schemes, the scheme in lower case. Rejects relative
// URLs, which would depend on the page that shows the article.
std::optional<std::string> address(std::string_view value,
                                   std::span<const std::string_view> schemes) {
    std::string url = normalized_url(value);
    if (has_control(url)) return std::nullopt;
    for (const std::string_view scheme : schemes) {
        if (url.size() <= scheme.size()) continue;
        if (!equal_ignoring_case(std::string_view(url).substr(0, scheme.size()), scheme)) continue;
        const char next = url[scheme.size()];
        if (next == '/' || next == '\\') return std::nullopt;
        return url.replace(0, scheme.size(), scheme);
    }
    return std::nullopt;
}

std::optional<std::string> link(std::string_view value) {
    static constexpr std::array<std::string_view, 3> kSchemes = {"https://", "http://", "mailto:"};
    return address(value, kSchemes);
}
std::optional<std::string> page(std::string_view value) {
    static constexpr std::array<std::string_view, 2> kSchemes = {"https://", "http://"};
    return address(value, kSchemes);
}
std::optional<std::string> picture(std::string_view value) {
    static constexpr std::array<std::string_view, 1> kSchemes = {"https://"};
    return address(value, kSchemes);
}

struct Attribute {
    GumboTag element;  // GUMBO_TAG_LAST: any element
    std::string_view name;
    Sanitizer sanitize;  // nullopt drops the attribute
};

constexpr std::array kAttributes = {
    Attribute{GUMBO_TAG_LAST, "lang", language},
    Attribute{GUMBO_TAG_LAST, "dir", choice<kDirections>},
    Attribute{GUMBO_TAG_LAST, "title", any_text},
    Attribute{GUMBO_TAG_A, "href", link},
    Attribute{GUMBO_TAG_IMG, "src", picture},
    Attribute{GUMBO_TAG_IMG, "alt", any_text},
    Attribute{GUMBO_TAG_IMG, "width", number},
    Attribute{GUMBO_TAG_IMG, "height", number},
    Attribute{GUMBO_TAG_BLOCKQUOTE, "cite", page},
    Attribute{GUMBO_TAG_Q, "cite", page},
    Attribute{GUMBO_TAG_TIME, "datetime", any_text},
    Attribute{GUMBO_TAG_OL, "start", number},
    Attribute{GUMBO_TAG_OL, "reversed", empty_text},
    Attribute{GUMBO_TAG_COL, "span", number},
    Attribute{GUMBO_TAG_COLGROUP, "span", number},
    Attribute{GUMBO_TAG_TD, "colspan", number},
    Attribute{GUMBO_TAG_TD, "rowspan", number},
    Attribute{GUMBO_TAG_TH, "colspan", number},
    Attribute{GUMBO_TAG_TH, "rowspan", number},
    Attribute{GUMBO_TAG_TH, "scope", choice<kScopes>},
};

constexpr std::array kVoid = {GUMBO_TAG_BR, GUMBO_TAG_HR, GUMBO_TAG_IMG, GUMBO_TAG_COL,
                              GUMBO_TAG_WBR};
constexpr std::array kElements = {
    GUMBO_TAG_P,       GUMBO_TAG_H1,         GUMBO_TAG_H2,         GUMBO_TAG_H3,
    GUMBO_TAG_H4,      GUMBO_TAG_H5,         GUMBO_TAG_H6,         GUMBO_TAG_DIV,
    GUMBO_TAG_SECTION, GUMBO_TAG_ASIDE,      GUMBO_TAG_BLOCKQUOTE, GUMBO_TAG_PRE,
    GUMBO_TAG_FIGURE,  GUMBO_TAG_FIGCAPTION, GUMBO_TAG_UL,         GUMBO_TAG_OL,
    GUMBO_TAG_LI,      GUMBO_TAG_DL,         GUMBO_TAG_DT,         GUMBO_TAG_DD,
    GUMBO_TAG_TABLE,   GUMBO_TAG_CAPTION,    GUMBO_TAG_COLGROUP,   GUMBO_TAG_THEAD,
    GUMBO_TAG_TBODY,   GUMBO_TAG_TFOOT,      GUMBO_TAG_TR,         GUMBO_TAG_TH,
    GUMBO_TAG_TD,      GUMBO_TAG_A,          GUMBO_TAG_SPAN,       GUMBO_TAG_EM,
    GUMBO_TAG_STRONG,  GUMBO_TAG_B,          GUMBO_TAG_I,          GUMBO_TAG_U,
    GUMBO_TAG_S,       GUMBO_TAG_SMALL,      GUMBO_TAG_MARK,       GUMBO_TAG_DEL,
    GUMBO_TAG_INS,     GUMBO_TAG_SUB,        GUMBO_TAG_SUP,        GUMBO_TAG_CODE,
    GUMBO_TAG_KBD,     GUMBO_TAG_SAMP,       GUMBO_TAG_VAR,        GUMBO_TAG_Q,
    GUMBO_TAG_CITE,    GUMBO_TAG_ABBR,       GUMBO_TAG_TIME,       GUMBO_TAG_BR,
    GUMBO_TAG_HR,      GUMBO_TAG_IMG,        GUMBO_TAG_COL,        GUMBO_TAG_WBR,
};
// Dropped with their content: code, content for plugins or forms, and elements that a browser may
// parse by other rules than this parser. Any other unknown element is dropped, but its content is
// kept.
constexpr std::array kCode = {
    GUMBO_TAG_SCRIPT,   GUMBO_TAG_STYLE,    GUMBO_TAG_TEMPLATE, GUMBO_TAG_NOSCRIPT,
    GUMBO_TAG_IFRAME,   GUMBO_TAG_OBJECT,   GUMBO_TAG_EMBED,    GUMBO_TAG_APPLET,
    GUMBO_TAG_NOEMBED,  GUMBO_TAG_NOFRAMES, GUMBO_TAG_FRAMESET, GUMBO_TAG_TITLE,
    GUMBO_TAG_TEXTAREA, GUMBO_TAG_SELECT,   GUMBO_TAG_AUDIO,    GUMBO_TAG_VIDEO,
    GUMBO_TAG_CANVAS,   GUMBO_TAG_SVG,      GUMBO_TAG_MATH,
};

template <class List>
bool holds(const List& list, GumboTag tag) {
    return std::find(list.begin(), list.end(), tag) != list.end();
}

bool is_code(const GumboElement& element) {
    return element.tag_namespace != GUMBO_NAMESPACE_HTML || holds(kCode, element.tag);
}

// ------------------------------------------------------------------ writing

void append_escaped(std::string& out, std::string_view text) {
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\r':
                out += '\n';
                break;
            default:
                if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') out += c;
        }
    }
}

// Walks a tree without recursion and writes what the allowlist accepts.
class Writer {
  public:
    std::string written(const GumboNode& body) {
        enter(body, false);
        while (!frames_.empty()) {
            Frame& frame = frames_.back();
            const GumboVector& children = frame.node->v.element.children;
            if (frame.next == children.length) {
                leave();
            } else {
                visit(*static_cast<const GumboNode*>(children.data[frame.next++]));
            }
        }
        return std::move(out_);
    }

  private:
    struct Frame {
        const GumboNode* node;
        unsigned next;
        bool is_written;
    };

    void enter(const GumboNode& node, bool is_written) {
        frames_.push_back({&node, 0, is_written});
        if (is_written) ++depth_;
    }

    void leave() {
        if (frames_.back().is_written) {
            --depth_;
            out_.append("</").append(name_of(*frames_.back().node)) += '>';
        }
        frames_.pop_back();
    }

    void visit(const GumboNode& node) {
        if (node.type == GUMBO_NODE_TEXT || node.type == GUMBO_NODE_WHITESPACE) {
            write_text(node.v.text.text);
        } else if (node.type == GUMBO_NODE_ELEMENT && !is_code(node.v.element)) {
            const bool is_written = depth_ < kDeepest && write_start(node);
            if (!holds(kVoid, node.v.element.tag)) enter(node, is_written);
        }
    }

    // A parser drops a line break directly after <pre>, so a real one must be doubled.
    void write_text(std::string_view text) {
        if (out_.size() == after_pre_ && text.starts_with('\n')) out_ += '\n';
        append_escaped(out_, text);
    }

    // Returns false for an element that is dropped while its content is kept.
    bool write_start(const GumboNode& node) {
        const GumboElement& element = node.v.element;
        if (!holds(kElements, element.tag)) return false;
        // A link without a valid target keeps only its text. An image without a valid source is
        // dropped.
        if (element.tag == GUMBO_TAG_A && !sanitized(element, "href")) return false;
        if (element.tag == GUMBO_TAG_IMG && !sanitized(element, "src")) return false;
        (out_ += '<') += name_of(node);
        for (const Attribute& attribute : kAttributes) {
            if (attribute.element == GUMBO_TAG_LAST || attribute.element == element.tag) {
                write_attribute(element, attribute);
            }
        }
        if (element.tag == GUMBO_TAG_A) out_ += " rel=\"noopener noreferrer\"";
        out_ += '>';
        if (element.tag == GUMBO_TAG_PRE) after_pre_ = out_.size();
        return true;
    }

    void write_attribute(const GumboElement& element, const Attribute& attribute) {
        const auto value = sanitized(element, attribute);
        if (!value) return;
        out_.append(" ").append(attribute.name).append("=\"");
        append_escaped(out_, *value);
        out_ += '"';
    }

    static std::optional<std::string> sanitized(const GumboElement& element,
                                                const Attribute& attribute) {
        const GumboAttribute* given =
            gumbo_get_attribute(&element.attributes, attribute.name.data());
        return given == nullptr ? std::nullopt : attribute.sanitize(given->value);
    }
    static std::optional<std::string> sanitized(const GumboElement& element,
                                                std::string_view name) {
        const auto* const found =
            std::find_if(kAttributes.begin(), kAttributes.end(), [&](const Attribute& attribute) {
                return attribute.element == element.tag && attribute.name == name;
            });
        return sanitized(element, *found);
    }

    static const char* name_of(const GumboNode& node) {
        return gumbo_normalized_tagname(node.v.element.tag);
    }

    std::string out_;
    std::vector<Frame> frames_;
    std::size_t depth_ = 0;
    std::size_t after_pre_ = std::string::npos;
};

// ------------------------------------------------------------------ parsing

// One parse with its memory, which is freed all at once, because the library frees its trees by
// recursion. The library is no longer maintained. It is still the choice: Debian 12 has no other
// stand-alone HTML5 parser for C or C++, and its cost is limited here.
//
// The library does not check allocations, and an exception must not pass through its C frames. So
// after a limit is reached, allocate() still returns memory, but makes the parse end:
// * The library checks stop_on_first_error after each token, and the document begins with an
//   error, so the current token is the last one.
// * All attributes of a tag are one token. The rest of the document is overwritten with '>',
//   which ends the tag. '<' is kept, because the library asserts that a tag's text begins with it.
//
// The last token copies each open formatting element and the document at most once per tag: less
// than another kMostMemory. Attributes are counted here too, because only the parser can recognize
// them.
class Parse {
  public:
    explicit Parse(std::string_view html)
        // Parsed as the content of a body in standards mode, so that leading white space or a
        // frameset is read like the rest. The end tag is the error.
        : document_("<!DOCTYPE html></x><body>" + std::string(html)) {
        options_.allocator = allocate;
        options_.deallocator = [](void*, void*) {};
        options_.userdata = this;
        options_.max_errors = 0;
        output_ = gumbo_parse_with_options(&options_, document_.data(), document_.size());
    }
    Parse(const Parse&) = delete;
    Parse& operator=(const Parse&) = delete;

    // nullptr if a limit was exceeded.
    const GumboNode* root() const { return is_stopped_ ? nullptr : output_->root; }

  private:
    // If the machine has no memory left, the program ends here.
    static void* allocate(void* self, std::size_t size) noexcept {
        auto& parse = *static_cast<Parse*>(self);
        parse.used_ += size;
        if (size == sizeof(GumboAttribute)) ++parse.attributes_;
        if (parse.used_ > kMostMemory || parse.attributes_ > kMostAttributes) parse.stop();
        return parse.memory_.allocate(size, alignof(std::max_align_t));
    }

    void stop() {
        if (is_stopped_) return;
        is_stopped_ = true;
        options_.stop_on_first_error = true;
        std::replace_if(
            document_.begin(), document_.end(), [](char c) { return c != '<'; }, '>');
    }

    std::string document_;
    GumboOptions options_ = kGumboDefaultOptions;
    const GumboOutput* output_ = nullptr;
    bool is_stopped_ = false;
    std::size_t used_ = 0;
    std::size_t attributes_ = 0;
    std::pmr::monotonic_buffer_resource memory_;
};

const GumboNode* body_of(const GumboNode& root) {
    const GumboVector& children = root.v.element.children;
    for (unsigned i = 0; i < children.length; ++i) {
        const auto* const child = static_cast<const GumboNode*>(children.data[i]);
        if (child->type == GUMBO_NODE_ELEMENT && child->v.element.tag == GUMBO_TAG_BODY) {
            return child;
        }
    }
    return nullptr;
}

// Elements that the parser opens again after others close. It never keeps two open links.
constexpr std::array<std::string_view, 12> kFormatting = {
    "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"};

// The name of a tag that begins here, and whether more than '>' follows it.
struct TagStart {
    std::string_view name;
    bool has_more;
};

TagStart tag_start(std::string_view html) {
    constexpr std::size_t kLongestName = 8;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    std::size_t length = 0;
    while (length < html.size() && length <= kLongestName && is_letter(html[length])) ++length;
    return {html.substr(0, length), html.substr(length, 1) != ">"};
}

// Counts, before parsing, the bytes that start tags. Text rarely contains them. No count depends on
// what the parser makes of them, so each is an upper bound: the depth is at most the number of tags
// that do not begin with "</".
bool has_too_many_tags(std::string_view html) {
    std::size_t tags = 0;
    std::size_t depth = 0;
    std::size_t formatting = 0;
    std::size_t templates = 0;
    std::size_t text_steps = 0;
    std::size_t before = 0;
    for (auto at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
        text_steps += (at - before) * depth;
        before = at;
        ++tags;
        if (html.substr(at + 1, 1) == "/") continue;
        ++depth;
        const TagStart start = tag_start(html.substr(at + 1));
        if (equal_ignoring_case(start.name, "template")) ++templates;
        formatting +=
            start.has_more &&
            std::any_of(kFormatting.begin(), kFormatting.end(), [&](std::string_view name) {
                return equal_ignoring_case(start.name, name);
            });
    }
    text_steps += (html.size() - before) * depth;
    return tags > kMostTags || templates > kMostTemplates || formatting > kMostFormatting ||
           text_steps > kMostTextSteps;
}

// nullopt if a limit was exceeded.
std::optional<std::string> rebuilt(std::string_view html) {
    if (has_too_many_tags(html)) return std::nullopt;
    const Parse parse(html);
    if (parse.root() == nullptr) return std::nullopt;
    const GumboNode* const body = body_of(*parse.root());
    return body == nullptr ? "" : Writer().written(*body);
}

std::string as_text(std::string_view html) {
    std::string escaped;
    append_escaped(escaped, html);
    return rebuilt(escaped).value_or("");
}

}  // namespace

std::string sanitized_html(std::string_view html) {
    auto before = rebuilt(html);
    // Misnested markup can parse differently after it was written as a tree, so repeat until the
    // result is stable.
    for (int pass = 1; before && pass < kPasses; ++pass) {
        auto after = rebuilt(*before);
        if (after == before) return std::move(*before);
        before = std::move(after);
    }
    return as_text(html);
}

}  // namespace muster::rules
