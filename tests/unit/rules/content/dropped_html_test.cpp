// rules/content/dropped_html.hpp: the parts that the sanitizer drops are reported where the person
// wrote them.
#include "rules/content/dropped_html.hpp"

#include "print.hpp"
#include "rules/content/html_sanitizer.hpp"

#include <string>
#include <vector>

using muster::rules::DroppedHtml;
using muster::rules::DroppedParts;
using muster::rules::DropReason;
using muster::rules::sanitized_html;
using muster::rules::sanitized_with_report;

namespace {

using Texts = std::vector<std::string>;

// "line: reason element@attribute xcount"
std::string text_of_part(const DroppedHtml& part) {
    std::string text = std::to_string(part.line) + ": " + std::string(text_of(part.reason));
    if (part.element) text += " " + *part.element;
    if (part.attribute) text += "@" + *part.attribute;
    if (part.count > 1) text += " x" + std::to_string(part.count);
    return text;
}

Texts dropped(const std::string& html) {
    Texts texts;
    for (const DroppedHtml& part : sanitized_with_report(html).dropped) {
        texts.push_back(text_of_part(part));
    }
    return texts;
}

struct ReportRow {
    std::string html;
    Texts dropped;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(dropped_html)

BOOST_AUTO_TEST_CASE(each_dropped_part_is_reported_with_its_line) {
    const std::vector<ReportRow> table = {
        {"", {}},
        {"<p>a</p>\n<script>x()</script>\n<p>b</p>", {"2: content script"}},
        {"<h2\n  class=a\n  onclick=\"x()\">a</h2>",
         {"2: attribute h2@class", "3: attribute h2@onclick"}},
        {"<font color=red>a</font>", {"1: element font"}},
        {"<x-Widget class=a>a</x-widget>", {"1: element x-widget"}},
        {"<img alt=a src=b.png>", {"1: address img"}},
        {"<a name=top>a</a>\n<a href=/b>b</a>", {"1: address a x2"}},
        {"<td>a", {}},
        {"<table><tr><td width=9 colspan=x>a</table>",
         {"1: attribute td@width", "1: value td@colspan"}},
        {"a<!-- b -->\n<!--c-->", {"1: comment x2"}},
        {"<template><p>x</p></template><svg><a/></svg>", {"1: content template", "1: content svg"}},
        {"<form action=x><input>a</form>", {"1: element form", "1: element input"}},
        {"<a href=https://a.example/ rel=nofollow target=_blank>a</a>",
         {"1: attribute a@rel", "1: attribute a@target"}},
    };
    for (const ReportRow& row : table) {
        BOOST_TEST_CONTEXT(row.html) {
            BOOST_TEST(dropped(row.html) == row.dropped);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_copy_that_the_parser_makes_is_not_reported) {
    BOOST_TEST(dropped("<font color=red><p>a<p>b<p>c") == Texts{"1: element font"});
    BOOST_TEST(dropped("<b class=x>a<p>b</b>c") == Texts{"1: attribute b@class"});
}

BOOST_AUTO_TEST_CASE(a_sanitized_text_lacks_nothing) {
    for (const std::string html :
         {"<p onclick=x>a<a href=https://a.example/>b</a><img src=https://a.example/c alt=d>",
          "<table>a<tr><td colspan=' 2 '>b", "<b>a<i>b</b>c</i>", "<ol reversed start=3><li>a",
          "<p dir=LTR lang=de title=''>a<br/><hr>"}) {
        BOOST_TEST_CONTEXT(html) {
            const auto first = sanitized_with_report(html);
            BOOST_TEST(first.html == sanitized_html(html));
            const auto second = sanitized_with_report(first.html);
            BOOST_TEST(second.html == first.html);
            BOOST_TEST(second.dropped.empty());
            BOOST_TEST(second.dropped_count == 0U);
        }
    }
}

BOOST_AUTO_TEST_CASE(tags_that_are_nested_too_deep_are_reported) {
    std::string html;
    for (int i = 0; i < 103; ++i) html += "<div>";
    BOOST_TEST(dropped(html) == Texts{"1: depth div x3"});
}

BOOST_AUTO_TEST_CASE(html_that_becomes_text_is_one_entry) {
    std::string html = "<script>";
    for (int i = 0; i < 5'001; ++i) html += "<br>";
    const auto report = sanitized_with_report(html);
    BOOST_TEST(report.html == sanitized_html(html));
    BOOST_TEST(dropped(html) == Texts{"1: markup"});
    BOOST_TEST(report.dropped_count == 1U);
}

BOOST_AUTO_TEST_CASE(the_report_is_bounded_and_counts_everything) {
    std::string html = "<p";
    for (int i = 0; i < 4'000; ++i) html.append(" a").append(std::to_string(i)).append("=1");
    const auto report = sanitized_with_report(html + ">a");
    BOOST_TEST(report.dropped.size() == DroppedParts::kMostEntries);
    BOOST_TEST(report.dropped_count == 4'000U);
    BOOST_TEST(report.dropped.front().attribute.value() == "a0");
}

BOOST_AUTO_TEST_CASE(a_name_is_short_and_visible_ascii) {
    const auto report =
        sanitized_with_report("<x-\xc3\xa4>a</x-\xc3\xa4><p " + std::string(500, 'n') + "=1>b");
    BOOST_TEST(report.dropped.at(0).element.value() == "x-??");
    BOOST_TEST(report.dropped.at(1).attribute.value() ==
               std::string(DroppedParts::kLongestName, 'n'));
}

BOOST_AUTO_TEST_SUITE_END()
