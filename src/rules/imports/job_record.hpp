// The JSON form of an import job's failure and preview in the API.
#pragma once

#include "base/record.hpp"
#include "rules/imports/jobs.hpp"

namespace muster {

template <>
struct JsonType<rules::ImportFailure> {
    static constexpr auto kRecord = record<rules::ImportFailure>(
        "ImportFailure",
        field<&rules::ImportFailure::code>("code", "Reason for the failure.").of([] {
            return one_of({"IMPORT_ATTEMPTS_EXHAUSTED"});
        }),
        field<&rules::ImportFailure::message>("message", "The reason in words.",
                                              "The import made no progress."));
    static void write(JsonWriter& to, const rules::ImportFailure& value) {
        kRecord.write(to, value);
    }
    static Json::Value schema() { return kRecord.schema(); }
};

template <>
struct JsonType<rules::ImportPreview> {
    static constexpr auto kRecord = record<rules::ImportPreview>(
        "ImportPreview",
        field<&rules::ImportPreview::create>(
            "create", "Number of rows that would create a user and a member."),
        field<&rules::ImportPreview::attach>(
            "attach", "Number of rows that would make an existing user a member."),
        field<&rules::ImportPreview::merge>(
            "merge", "Number of rows that would fill empty values of a member."));
    static void write(JsonWriter& to, const rules::ImportPreview& value) {
        kRecord.write(to, value);
    }
    static Json::Value schema() { return kRecord.schema(); }
};

}  // namespace muster
