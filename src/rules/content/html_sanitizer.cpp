#include "rules/content/html_sanitizer.hpp"

#include "base/text.hpp"
#include "rules/content/html_escape.hpp"
#include "rules/content/html_values.hpp"

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

struct Attribute {
    GumboTag element;  // GUMBO_TAG_LAST: any element
    std::string_view name;
    html_value::Sanitizer sanitize;
};

constexpr std::array kAttributes = {
    Attribute{GUMBO_TAG_LAST, "lang", html_value::language},
    Attribute{GUMBO_TAG_LAST, "dir", html_value::direction},
    Attribute{GUMBO_TAG_LAST, "title", html_value::any_text},
    Attribute{GUMBO_TAG_A, "href", html_value::link},
    Attribute{GUMBO_TAG_IMG, "src", html_value::picture},
    Attribute{GUMBO_TAG_IMG, "alt", html_value::any_text},
    Attribute{GUMBO_TAG_IMG, "width", html_value::number},
    Attribute{GUMBO_TAG_IMG, "height", html_value::number},
    Attribute{GUMBO_TAG_BLOCKQUOTE, "cite", html_value::page},
    Attribute{GUMBO_TAG_Q, "cite", html_value::page},
    Attribute{GUMBO_TAG_TIME, "datetime", html_value::any_text},
    Attribute{GUMBO_TAG_OL, "start", html_value::number},
    Attribute{GUMBO_TAG_OL, "reversed", html_value::empty_text},
    Attribute{GUMBO_TAG_COL, "span", html_value::number},
    Attribute{GUMBO_TAG_COLGROUP, "span", html_value::number},
    Attribute{GUMBO_TAG_TD, "colspan", html_value::number},
    Attribute{GUMBO_TAG_TD, "rowspan", html_value::number},
    Attribute{GUMBO_TAG_TH, "colspan", html_value::number},
    Attribute{GUMBO_TAG_TH, "rowspan", html_value::number},
    Attribute{GUMBO_TAG_TH, "scope", html_value::scope},
};

constexpr std::string_view kLinkRelation = "noopener noreferrer";

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

// The allowed attribute of this name; nullptr if the element may not have it.
const Attribute* allowed_attribute(GumboTag element, std::string_view name) {
    const auto* const found =
        std::find_if(kAttributes.begin(), kAttributes.end(), [&](const Attribute& attribute) {
            const bool fits = attribute.element == GUMBO_TAG_LAST || attribute.element == element;
            return fits && attribute.name == name;
        });
    return found == kAttributes.end() ? nullptr : found;
}

// ------------------------------------------------------------------ writing

// The name of an element, as written in the source if the parser does not know it.
std::string name_of(const GumboElement& element) {
    if (element.tag != GUMBO_TAG_UNKNOWN) return gumbo_normalized_tagname(element.tag);
    GumboStringPiece text = element.original_tag;
    if (text.length < 2) return "";
    gumbo_tag_from_original_text(&text);
    std::string name(text.data, text.length);
    ascii_lower(name);
    return name;
}

// Whether the source has the start tag of this element once, here.
bool is_in_source(const GumboNode& node) {
    constexpr unsigned kCopies = GUMBO_INSERTION_BY_PARSER |
                                 GUMBO_INSERTION_RECONSTRUCTED_FORMATTING_ELEMENT |
                                 GUMBO_INSERTION_ADOPTION_AGENCY_CLONED;
    return (static_cast<unsigned>(node.parse_flags) & kCopies) == 0;
}

// Why an attribute of a written element is dropped; nullopt if it is not.
std::optional<DropReason> reason_to_drop_attribute(const GumboElement& element,
                                                   const GumboAttribute& given) {
    const bool is_relation = element.tag == GUMBO_TAG_A && std::string_view(given.name) == "rel";
    if (is_relation && given.value == kLinkRelation) return std::nullopt;
    const Attribute* const allowed = allowed_attribute(element.tag, given.name);
    if (allowed == nullptr) return DropReason::Attribute;
    if (!allowed->sanitize(given.value)) return DropReason::Value;
    return std::nullopt;
}

// Walks a tree without recursion and writes what the allowlist accepts. Adds the other parts to
// `dropped`, unless it is nullptr.
class Writer {
  public:
    explicit Writer(DroppedParts* dropped) : dropped_(dropped) {}

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
            out_.append("</").append(name_of(frames_.back().node->v.element)) += '>';
        }
        frames_.pop_back();
    }

    void visit(const GumboNode& node) {
        switch (node.type) {
            case GUMBO_NODE_TEXT:
            case GUMBO_NODE_WHITESPACE:
                return write_text(node.v.text.text);
            case GUMBO_NODE_COMMENT:
                if (dropped_)
                    dropped_->add(DropReason::Comment, "", "", node.v.text.start_pos.line);
                return;
            case GUMBO_NODE_TEMPLATE:
                return report(node, DropReason::Content);
            case GUMBO_NODE_ELEMENT:
                return visit_element(node);
            case GUMBO_NODE_CDATA:  // in foreign elements only
            case GUMBO_NODE_DOCUMENT:
                return;
        }
    }

    void visit_element(const GumboNode& node) {
        const GumboElement& element = node.v.element;
        if (is_code(element)) return report(node, DropReason::Content);
        const auto reason = reason_to_drop(element);
        if (reason) {
            report(node, *reason);
        } else {
            write_start(node);
            report_attributes(node);
        }
        if (!holds(kVoid, element.tag)) enter(node, !reason);
    }

    // Why an element is dropped while its content is kept; nullopt if it is written.
    std::optional<DropReason> reason_to_drop(const GumboElement& element) const {
        if (!holds(kElements, element.tag)) return DropReason::Element;
        // A link without a valid target keeps only its text. An image without a valid source is
        // dropped.
        if (element.tag == GUMBO_TAG_A && !sanitized(element, "href")) return DropReason::Address;
        if (element.tag == GUMBO_TAG_IMG && !sanitized(element, "src")) return DropReason::Address;
        if (depth_ >= kDeepest) return DropReason::Depth;
        return std::nullopt;
    }

    void report(const GumboNode& node, DropReason reason) {
        if (!dropped_ || !is_in_source(node)) return;
        dropped_->add(reason, name_of(node.v.element), "", node.v.element.start_pos.line);
    }

    void report_attributes(const GumboNode& node) {
        if (!dropped_ || !is_in_source(node)) return;
        const GumboElement& element = node.v.element;
        for (unsigned i = 0; i < element.attributes.length; ++i) {
            const auto& given = *static_cast<const GumboAttribute*>(element.attributes.data[i]);
            const auto reason = reason_to_drop_attribute(element, given);
            if (!reason) continue;
            dropped_->add(*reason, name_of(element), given.name, given.name_start.line);
        }
    }

    // A parser drops a line break directly after <pre>, so a real one must be doubled.
    void write_text(std::string_view text) {
        if (out_.size() == after_pre_ && text.starts_with('\n')) out_ += '\n';
        append_escaped_html(out_, text);
    }

    void write_start(const GumboNode& node) {
        const GumboElement& element = node.v.element;
        (out_ += '<') += name_of(element);
        for (const Attribute& attribute : kAttributes) {
            if (attribute.element == GUMBO_TAG_LAST || attribute.element == element.tag) {
                write_attribute(element, attribute);
            }
        }
        if (element.tag == GUMBO_TAG_A) out_.append(" rel=\"").append(kLinkRelation) += '"';
        out_ += '>';
        if (element.tag == GUMBO_TAG_PRE) after_pre_ = out_.size();
    }

    void write_attribute(const GumboElement& element, const Attribute& attribute) {
        const auto value = sanitized(element, attribute);
        if (!value) return;
        out_.append(" ").append(attribute.name).append("=\"");
        append_escaped_html(out_, *value);
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
        return sanitized(element, *allowed_attribute(element.tag, name));
    }

    DroppedParts* dropped_;
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
std::optional<std::string> rebuilt(std::string_view html, DroppedParts* dropped = nullptr) {
    if (has_too_many_tags(html)) return std::nullopt;
    const Parse parse(html);
    if (parse.root() == nullptr) return std::nullopt;
    const GumboNode* const body = body_of(*parse.root());
    return body == nullptr ? "" : Writer(dropped).written(*body);
}

std::string as_text(std::string_view html) {
    return rebuilt(escaped_html(html)).value_or("");
}

// nullopt if a limit was exceeded.
std::optional<std::string> stable(std::string_view html, DroppedParts* dropped) {
    auto before = rebuilt(html, dropped);
    // Misnested markup can parse differently after it was written as a tree, so repeat until the
    // result is stable.
    for (int pass = 1; before && pass < kPasses; ++pass) {
        auto after = rebuilt(*before);
        if (after == before) return before;
        before = std::move(after);
    }
    return std::nullopt;
}

}  // namespace

std::string sanitized_html(std::string_view html) {
    auto clean = stable(html, nullptr);
    return clean ? std::move(*clean) : as_text(html);
}

SanitizedHtml sanitized_with_report(std::string_view html) {
    DroppedParts dropped;
    if (auto clean = stable(html, &dropped)) {
        return {std::move(*clean), dropped.entries(), dropped.count()};
    }
    return {as_text(html), {{DropReason::Markup, {}, {}}}, 1};
}

}  // namespace muster::rules
