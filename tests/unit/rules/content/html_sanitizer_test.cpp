// rules/content/html_sanitizer.hpp: which HTML is kept, and which attacks are prevented.
#include "rules/content/html_sanitizer.hpp"

#include "print.hpp"
#include "processor_time.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::string_literals;
using muster::rules::sanitized_html;
using muster::rules::sanitized_with_report;

namespace {

struct Row {
    std::string html;
    std::string clean;
};

void check(const std::vector<Row>& table) {
    for (const Row& row : table) {
        BOOST_TEST_CONTEXT(row.html) {
            BOOST_TEST(sanitized_html(row.html) == row.clean);
            BOOST_TEST(sanitized_html(row.clean) == row.clean);
        }
    }
}

// A link with this escaped address is kept or loses its address.
std::string link_to(const std::string& href) {
    return sanitized_html("<a href=\"" + href + "\">x</a>");
}

std::string repeated(std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

// HTML that would cost a parser seconds or gigabytes.
std::string many_attributes() {
    std::string html = "<p ";
    for (int i = 0; i < 30'000; ++i) html += "a" + std::to_string(i) + " ";
    return html + ">text";
}
std::string formatting_reopened() {
    std::string html;
    for (int i = 0; i < 6'000; ++i) html += "<b id=" + std::to_string(i) + "><p>";
    return html + repeated("</b>", 6'000);
}

constexpr std::string_view kRel = " rel=\"noopener noreferrer\"";

}  // namespace

BOOST_AUTO_TEST_SUITE(html_sanitizer)

BOOST_AUTO_TEST_CASE(an_article_of_allowed_html_is_unchanged) {
    const std::string article =
        "<h2>Final &amp; farewell</h2>\n<p lang=\"de\" dir=\"ltr\">Grüße, <strong>all</strong> "
        "<em>of</em> <abbr title=\"you &lt;3\">u</abbr>.<br>1 &lt; 2 😀</p>"
        "<figure><img src=\"https://cdn.example/a.png?a=1&amp;b=2\" alt=\"\" width=\"640\" "
        "height=\"480\"><figcaption>At <time datetime=\"2026-11-20\">last</time></figcaption></figure>"
        "<ul><li>one</li><li>two</li></ul><ol start=\"3\" reversed=\"\"><li>three</li></ol>"
        "<blockquote cite=\"https://example.org/\"><p>said</p></blockquote><hr>"
        "<table><caption>t</caption><colgroup><col span=\"2\"></colgroup><thead><tr>"
        "<th colspan=\"2\" scope=\"col\">h</th></tr></thead><tbody><tr><td rowspan=\"2\">d</td>"
        "</tr></tbody></table><dl><dt>a</dt><dd>b</dd></dl><pre><code>x\n  y</code></pre>"
        "<p><a href=\"https://example.org/\" rel=\"noopener noreferrer\">link</a> H<sub>2</sub>O</p>";
    BOOST_TEST(sanitized_html(article) == article);
}

BOOST_AUTO_TEST_CASE(code_is_removed_with_its_content_and_other_elements_keep_their_text) {
    check({
        {"", ""},
        {"a<script>alert(1)</script>b", "ab"},
        {"<SCRIPT SRC=//evil.example/x.js></SCRIPT>a", "a"},
        {"<script>never closed", ""},
        {"<scr<script>ipt>alert(1)</script>a", "ipt&gt;alert(1)a"},
        {"<style>*{background:url(javascript:alert(1))}</style>a", "a"},
        {"<template><p>x</p></template>a", "a"},
        {"<noscript><p>x</p></noscript>a", "a"},
        {"<iframe src=\"javascript:alert(1)\">x</iframe>a", "a"},
        {"<iframe srcdoc=\"<script>alert(1)</script>\"></iframe>a", "a"},
        {"<object data=\"x.swf\"><param name=a><p>x</p></object>a", "a"},
        {"<embed src=\"x.swf\">a", "a"},
        {"<applet code=x>x</applet>a", "a"},
        {"<svg onload=alert(1)><p>x</p></svg>a", "<p>x</p>a"},
        {"<math><mi>x</mi></math>a", "a"},
        {"<video src=x onerror=alert(1)>x</video><audio src=y></audio>a", "a"},
        {"<canvas>x</canvas>a", "a"},
        {"<textarea><p>x</textarea><select><option>x</select>a", "a"},
        {"<title><img src=x onerror=alert(1)></title>a", "a"},
        {"<base href=\"https://evil.example/\"><link rel=stylesheet href=x><meta charset=x>a", "a"},
        {"<meta http-equiv=refresh content=\"0;url=javascript:alert(1)\">a", "a"},
        {"<form action=x><label>name <input value=y></label><button>go</button></form>", "name go"},
        {"<xmp><b>x</b></xmp>", "&lt;b&gt;x&lt;/b&gt;"},
        {"<plaintext><b>x</b>", "&lt;b&gt;x&lt;/b&gt;"},
        {"<marquee>x</marquee><font color=red>y</font><x-widget>z</x-widget>", "xyz"},
        {"<html><head><title>x</title></head><body onload=alert(1)><p>a</p></body></html>",
         "<p>a</p>"},
        {"<frameset onload=alert(1)><frame src=x></frameset>", ""},
        {"a<!-- b -->c<!--[if IE]><script>x</script><![endif]-->d", "acd"},
        {"a<![CDATA[<script>x</script>]]>b", "ax]]&gt;b"},
        {"<?php echo 1 ?>a", "a"},
        {"<!DOCTYPE html>a", "a"},
    });
}

BOOST_AUTO_TEST_CASE(only_listed_attributes_are_kept) {
    check({
        {"<p class=a id=b style=\"color:expression(alert(1))\" name=c data-x=d>x</p>", "<p>x</p>"},
        {"<p onclick=alert(1) ONMOUSEOVER='x' on=y onx>x</p>", "<p>x</p>"},
        {"<p/onclick=alert(1)/>x", "<p>x</p>"},
        {"<b\nonclick\n=\nalert(1)\n>x</b>", "<b>x</b>"},
        {"<b \"onclick=alert(1)\">x</b>", "<b>x</b>"},
        {"<p title='\"><script>alert(1)</script>'>x</p>",
         "<p title=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\">x</p>"},
        {"<p title=\"&quot; onclick=&quot;alert(1)\">x</p>",
         "<p title=\"&quot; onclick=&quot;alert(1)\">x</p>"},
        {"<p title=\"`\" title=\"second\">x</p>", "<p title=\"`\">x</p>"},
        {"<p lang=\"de onclick=x\" dir=\"javascript:\">x</p>", "<p>x</p>"},
        {"<p href=\"https://example.org/\" src=\"https://example.org/\">x</p>", "<p>x</p>"},
        {"<p is=x-y slot=z part=w>x</p>", "<p>x</p>"},
        {"<img src=\"https://a.example/b\" width=\"10%\" height=\"-1\" srcset=\"javascript:alert(1) 2x\">",
         "<img src=\"https://a.example/b\">"},
        {"<img src=\"https://a.example/b\" onerror=alert(1) usemap=\"#m\" longdesc=x>",
         "<img src=\"https://a.example/b\">"},
        {"<img src=\"https://a.example/b\" alt=\"<b>&amp;lt;\">",
         "<img src=\"https://a.example/b\" alt=\"&lt;b&gt;&amp;lt;\">"},
        {"<table background=\"javascript:alert(1)\"><tr><td background=x colspan=\" 2 \">x</table>",
         "<table><tbody><tr><td colspan=\"2\">x</td></tr></tbody></table>"},
        {"<td colspan=99999>x", "x"},
        {"<ol type=\"x\" start=\"1e9\"><li value=3>x</ol>", "<ol><li>x</li></ol>"},
        {"<a xlink:href=\"javascript:alert(1)\">x</a>", "x"},
        {"<a href=\"https://a.example/\" target=_top ping=\"https://b.example/\" download rel=opener>x</a>",
         "<a href=\"https://a.example/\"" + std::string(kRel) + ">x</a>"},
        {"<blockquote cite=\"javascript:alert(1)\">x</blockquote>", "<blockquote>x</blockquote>"},
        {"<blockquote cite=\"mailto:a@b.example\">x</blockquote>", "<blockquote>x</blockquote>"},
    });
}

BOOST_AUTO_TEST_CASE(links_use_only_https_http_and_mailto) {
    const std::vector<Row> kept = {
        {"https://example.org/a?b=c&amp;d#e", "https://example.org/a?b=c&amp;d#e"},
        {"HTTPS://example.org/", "https://example.org/"},
        {"http://example.org", "http://example.org"},
        {" \n https://example.org/ \t", "https://example.org/"},
        {"htt\nps://exam\tple.org/", "https://example.org/"},
        {"&#104;ttps://example.org/", "https://example.org/"},
        {"mailto:a@b.example?subject=x", "mailto:a@b.example?subject=x"},
        {"https://example.org/'onclick='x", "https://example.org/'onclick='x"},
    };
    for (const Row& row : kept) {
        BOOST_TEST(link_to(row.html) ==
                   "<a href=\"" + row.clean + "\"" + std::string(kRel) + ">x</a>");
    }
    const std::vector<std::string> refused = {
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "&#x6A;avascript&colon;alert(1)",
        "&#0000106avascript:alert(1)",
        "java\tscript:alert(1)",
        "java&Tab;script:alert(1)",
        "java&NewLine;script:alert(1)",
        "java\nscript:alert(1)",
        "  javascript:alert(1)",
        "\x01javascript:alert(1)",
        "java\0script:alert(1)"s,
        "javascript&#58;alert(1)",
        "javascript://example.org/%0aalert(1)",
        "vbscript:msgbox(1)",
        "data:text/html,<script>alert(1)</script>",
        "data:text/html;base64,PHNjcmlwdD4=",
        "blob:https://example.org/1",
        "file:///etc/passwd",
        "view-source:https://example.org/",
        "filesystem:https://example.org/x",
        "tel:+4912345",
        "//evil.example/",
        "\\\\evil.example\\x",
        "/relative",
        "relative",
        "#fragment",
        "?query",
        "",
        "https:",
        "https://",
        "https:example.org",
        "https:\\\\evil.example",
        "https:///evil.example",
        "https://\\evil.example",
        "https://exam&#1;ple.org/",
        "https&#xff1a;//example.org/",
        "\xe2\x80\x8bhttps://example.org/",
    };
    for (const std::string& href : refused) {
        BOOST_TEST_CONTEXT(href) {
            BOOST_TEST(link_to(href) == "x");
        }
    }
}

BOOST_AUTO_TEST_CASE(images_use_only_https) {
    for (const std::string src :
         {"http://a.example/b", "//a.example/b", "b.png",
          "data:image/svg+xml,<svg onload=alert(1)>", "data:image/png;base64,AAAA",
          "javascript:alert(1)", "x onerror=alert(1)", ""}) {
        BOOST_TEST_CONTEXT(src) {
            BOOST_TEST(sanitized_html("a<img src=\"" + src + "\" onerror=\"alert(1)\">b") == "ab");
        }
    }
    check({
        {"<img onerror=alert(1)>", ""},
        {"<image src=\"https://a.example/b\" onerror=alert(1)>",
         "<img src=\"https://a.example/b\">"},
        {"<picture><source srcset=\"https://a.example/c\"><img src=\"https://a.example/b\"></picture>",
         "<img src=\"https://a.example/b\">"},
        {"<input type=image src=\"https://a.example/b\" onerror=alert(1)>", ""},
    });
}

// Markup that one parser reads as text and the next one as elements.
BOOST_AUTO_TEST_CASE(sanitized_html_contains_no_elements_when_parsed_again) {
    const std::vector<std::string> vectors = {
        "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 "
        "onerror=alert(1)&gt;\">",
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
        "<p><noscript><style></noscript><img src=x onerror=alert(1)></style>",
        "<svg><style>&lt;img src=x onerror=alert(1)&gt;</style></svg>",
        "<svg><![CDATA[><img src=x onerror=alert(1)>]]></svg>",
        "<svg><foreignObject><iframe srcdoc=\"&lt;script&gt;alert(1)\"></foreignObject></svg>",
        "<svg><animate attributeName=href values=javascript:alert(1) /><a><text>x</text></a></svg>",
        "<svg><use href=\"data:image/svg+xml,<svg id='x' onload='alert(1)'/>#x\"/></svg>",
        "<math><annotation-xml encoding=\"text/html\"><script>alert(1)</script></math>",
        "<table><script>alert(1)</script><tr><td onclick=alert(1)>x<svg onload=alert(1)></table>",
        "<table><a href=\"javascript:alert(1)\">x<tr><td><a href=\"javascript:alert(2)\">y</table>",
        "<select><template><style><!--</style><a rel=\"--></style></template></select><img "
        "src=x onerror=alert(1)>\">",
        "<textarea><img title=\"</textarea><img src=x onerror=alert(1)>\">",
        "<xmp><p title=\"</xmp><img src=x onerror=alert(1)>\">",
        "<title><p title=\"</title><img src=x onerror=alert(1)>\">",
        "<iframe><p title=\"</iframe><img src=x onerror=alert(1)>\">",
        "<noembed><p title=\"</noembed><img src=x onerror=alert(1)>\">",
        "<plaintext><img src=x onerror=alert(1)>",
        "<!--<img src=\"--><img src=x onerror=alert(1)//\">",
        "<!-- --!><img src=x onerror=alert(1)>-->",
        "<!--><img src=x onerror=alert(1)>-->",
        "<img src=\"x` `<script>alert(1)</script>\"` `>",
        "<div title=\"&lt;/div&gt;&lt;img src=x onerror=alert(1)&gt;\">",
        "<\0script>alert(1)</script\0>"s,
        "<scr\0ipt>alert(1)</scr\0ipt>"s,
        "<img \0src=x on\0error=alert(1)>"s,
        "<img src=x onerror=alert(1)",
        "<a href='javascript:alert(1)",
        "<<script>script>alert(1)</script>",
        "<svg/onload=alert(1)//",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<p>&#60;img src=x onerror=alert(1)&#62;",
        "<pre>\n\n<script>alert(1)</script></pre>",
        "<isindex type=image src=1 onerror=alert(1) prompt=\"<img src=x onerror=alert(1)>\">",
        "<style><img src=\"</style><img src=x onerror=alert(1)//\">",
        "<b><p><table><tr><b></p><script>alert(1)</script></table>",
        "\xff<\xfescript>alert(1)</script>",
        "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    };
    for (const std::string& vector : vectors) {
        BOOST_TEST_CONTEXT(vector) {
            const std::string clean = sanitized_html(vector);
            BOOST_TEST(sanitized_html(clean) == clean);
            // Not as elements; they are allowed as escaped text.
            for (const std::string_view tag :
                 {"<script", "<img", "<svg", "<math", "<style", "<iframe", "<form", "<input", "<a",
                  "<xmp", "<title", "<!"}) {
                BOOST_TEST(clean.find(tag) == std::string::npos, tag << " in " << clean);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(misnested_markup_is_stable_after_sanitizing) {
    check({
        {"<p>a<p>b", "<p>a</p><p>b</p>"},
        {"<b>a<i>b</b>c</i>", "<b>a<i>b</i></b><i>c</i>"},
        {"<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"},
        {"<table>a<tr><td>b</table>", "a<table><tbody><tr><td>b</td></tr></tbody></table>"},
        {"</p>", "<p></p>"},
        {"</div></table></script>x", "x"},
        {"a & b &lt; c &nosuch; &copy;", "a &amp; b &lt; c &amp;nosuch; ©"},
        {"<pre>\n\na</pre>", "<pre>\n\na</pre>"},
        {"<pre>\na</pre>", "<pre>a</pre>"},
        {"<pre><font>\na</font></pre>", "<pre>\n\na</pre>"},
        {"\n\na", "\n\na"},
        {"  a\r\nb\x01\x7f ", "  a\nb\ufffd\ufffd "},
        {"<h1><h2>x</h1>", "<h1></h1><h2>x</h2>"},
        {"<br/><br></br>", "<br><br><br>"},
    });
    for (const std::string html :
         {"<button><p>a<button><p>b",
          "<a href=https://a.example><table><a href=https://b.example>x", "<li><button><li>x",
          "<table><form><tr><p>x", "<dd><x><dt><dd>", "<p><font><p><table><p>",
          "<b><b><b><b><b><p>x</b>y", "<td><h1><caption><h2>x", "<nobr><table><nobr>x"}) {
        BOOST_TEST_CONTEXT(html) {
            const std::string clean = sanitized_html(html);
            BOOST_TEST(clean.find("&lt;") == std::string::npos, clean);  // parsed as elements
            BOOST_TEST(sanitized_html(clean) == clean);
        }
    }
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_flattened_and_keeps_its_text) {
    const std::string clean = sanitized_html(repeated("<div>", 4'900) + "text");
    BOOST_TEST(clean.size() < 2'000U);
    BOOST_TEST(clean.find("<div>text</div>") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(html_that_exhausts_a_parser_is_escaped_as_text) {
    for (const std::string& html : {repeated("<div>", 5'001), many_attributes(),
                                    formatting_reopened(), repeated("<Template><tr>", 501)}) {
        const std::string clean = sanitized_html(html);
        BOOST_TEST(clean.find('<') == std::string::npos);
        BOOST_TEST(clean.starts_with("&lt;"));
        BOOST_TEST(sanitized_html(clean) == clean);
    }
}

// Each state of a tag enforces the limit on attributes; the text after the tag has no effect.
BOOST_AUTO_TEST_CASE(a_tag_with_too_many_attributes_is_rejected_in_every_state) {
    constexpr std::array<std::pair<const char*, const char*>, 8> kCases = {{
        {"", ""},
        {"= x", " \"<i>"},
        {"=x", "/>text"},
        {"=\"<b>\"", "<<</script>&amp;</"},
        {"='>'", "></<b>x"},
        {"/", "></p>&am"},
        {"=<", "><script></scr"},
        {"\r\n", "\xc3\xa4>< x"},
    }};
    for (const auto& [value, behind] : kCases) {
        std::string html = "<p";
        for (int i = 0; i < 5'100; ++i) html.append(" a").append(std::to_string(i)).append(value);
        const std::string clean = sanitized_html(html + behind);
        BOOST_TEST(clean.starts_with("&lt;p a0"));
        BOOST_TEST(clean.find('<') == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(an_article_of_the_maximum_size_is_unchanged) {
    const std::string row = "<tr><td>12</td><td lang=\"de\">Verein</td><td>3:1</td></tr>";
    const std::string table = "<table><tbody>" + repeated(row, 200) + "</tbody></table>";
    const std::string text =
        repeated("<p>" + repeated("Plain <b>words</b> ", 2) + repeated("of an article ", 18) +
                     "<a href=\"https://example.org/\" rel=\"noopener noreferrer\">here</a>.</p>\n",
                 400);
    BOOST_TEST((table + text).size() > 150U << 10U);
    BOOST_TEST((sanitized_html(table + text) == table + text));
}

// HTML of the maximum size that makes the parser search its lists as often as the limits allow, and
// some that exceeds the limits.
BOOST_AUTO_TEST_CASE(the_worst_case_takes_bounded_processor_time) {
    constexpr std::size_t kLongest = std::size_t{200} << 10U;
    constexpr int kTags = 4'990;
    constexpr int kHalf = kTags / 2;
    const std::string text(kLongest, 'x');
    const auto numbered = [](const std::string& before, const std::string& after, int times) {
        std::string all;
        for (int i = 0; i < times; ++i) all.append(before).append(std::to_string(i)).append(after);
        return all;
    };
    const std::string formatting = numbered("<b class=a id=", ">", 999);
    const std::vector<std::string> worst = {
        numbered("<b id=", ">", 14'990),
        formatting + repeated("<b>", kTags - 999),
        formatting + repeated("<p>x", kTags - 999),
        formatting + repeated("</p>x", kTags - 999),
        repeated("<div>", kTags) + "<b>" + text,
        repeated("<div>", 2'000) + "<b>" + text.substr(0, 190'000),
        "<b>" + repeated("<div>", 2'000) + text.substr(0, 190'000),
        repeated("<table><td>", 1'000) + "<b>" + text.substr(0, 190'000),
        repeated("<div>", kTags),
        repeated("<span>", kHalf) + repeated("</x>", kHalf),
        repeated("<span>", kHalf) + repeated("</h1>", kHalf),
        "<b>" + repeated("<div>", kHalf) + repeated("</b>", kHalf),
        repeated("<b><div>", kHalf / 2) + repeated("</b>", kHalf),
        repeated("<a href=https://x><p>", kHalf),
        repeated("<div>", kHalf) + repeated("<table>x", kHalf),
        repeated("<ul><li>", kHalf),
        repeated("<dl><dd>", kHalf / 2) + repeated("<dt>", kHalf),
        repeated("<template>", 499) + repeated("<b>", kTags - 499),
        "<svg>" + repeated("<g>", kHalf) + repeated("</x>", kHalf),
        "<p" + numbered(" a", "", 4'990) + ">",
        "<p" + numbered(" a", "", 60'000) + ">",
        numbered("<body a", "=1>", kTags),
        std::string(kLongest, '"'),
        std::string(kLongest, '&'),
    };
    for (const std::string& html : worst) {
        BOOST_TEST_CONTEXT(html.substr(0, 40)) {
            const std::string sent = html.substr(0, kLongest);
            const double used = muster::test::processor_milliseconds(
                [&] { BOOST_TEST(sanitized_with_report(sent).html.size() < 10 * kLongest); });
            BOOST_TEST(used < muster::test::processor_limit());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
