// The JSON form of an import job's failure and preview in the API.
#pragma once

#include "base/record.hpp"
#include "rules/imports/jobs.hpp"

namespace muster::rules {

// The codes of all errors.
inline Json::Value row_error_schema() {
    Json::Value schema = one_of({});
    for (const auto& name : kNames<RowError>) {
        if (name.value != RowError::None) schema["enum"].append(std::string(name.text));
    }
    return schema;
}

}  // namespace muster::rules

namespace muster {

template <>
struct JsonType<rules::ErrorCount> {
    static constexpr auto kRecord = record<rules::ErrorCount>(
        "ImportErrorCount",
        field<&rules::ErrorCount::error>("error_code", "Error of the rows.")
            .of(rules::row_error_schema),
        RecordField<rules::ErrorCount>{
            "field",
            "Path of the field in the payload; null if the error is not about a field, and for "
            "fields beyond the limit.",
            [](JsonWriter& to, const rules::ErrorCount& entry) {
                entry.field.empty() ? to.null() : to.string(entry.field);
            },
            JsonType<std::optional<std::string>>::schema},
        field<&rules::ErrorCount::count>("count", "Number of rows."));
    static void write(JsonWriter& to, const rules::ErrorCount& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

template <>
struct JsonType<rules::RowFault> {
    static constexpr auto kRecord = record<rules::RowFault>(
        "ImportRowFault",
        field<&rules::RowFault::path>("path", "Path of the field in the payload.", "country"),
        RecordField<rules::RowFault>{"code", "Code of the fault, as in details.fields of an error.",
                                     [](JsonWriter& to, const rules::RowFault& fault) {
                                         to.string(field_code_text(fault.code));
                                     },
                                     JsonType<std::string>::schema},
        RecordField<rules::RowFault>{"message", "Description of the fault.",
                                     [](JsonWriter& to, const rules::RowFault& fault) {
                                         to.string(field_code_message(fault.code));
                                     },
                                     JsonType<std::string>::schema});
    static void write(JsonWriter& to, const rules::RowFault& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

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
struct JsonType<rules::ImportUndo> {
    static constexpr auto kRecord = record<rules::ImportUndo>(
        "ImportUndo",
        field<&rules::ImportUndo::removed>("removed",
                                           "Number of created rows whose member was removed."),
        field<&rules::ImportUndo::detached>("detached",
                                            "Number of attached rows whose member was removed."),
        field<&rules::ImportUndo::emptied>(
            "emptied", "Number of merged rows whose filled values were emptied."),
        field<&rules::ImportUndo::kept>(
            "kept", "Number of rows with a member or value that was changed since and is kept."),
        field<&rules::ImportUndo::unaffected>(
            "unaffected",
            "Number of rows that left nothing to take back: they filled no value, or the member no "
            "longer exists."),
        field<&rules::ImportUndo::is_estimate>(
            "is_estimate",
            "true: the counts are scaled from a part of the rows. Only in the reply to a dry run."));
    static void write(JsonWriter& to, const rules::ImportUndo& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

template <>
struct JsonType<rules::ImportPreview> {
    static constexpr auto kRecord = record<rules::ImportPreview>(
        "ImportPreview",
        field<&rules::ImportPreview::new_members>(
            "new_members", "Number of rows that would add a member: created or attached."),
        field<&rules::ImportPreview::existing_members>(
            "existing_members",
            "Number of rows that would fill empty values of a member: merged."));
    static void write(JsonWriter& to, const rules::ImportPreview& value) {
        kRecord.write(to, value);
    }
    static Json::Value schema() { return kRecord.schema(); }
};

}  // namespace muster
