// Serves /v1/member-jobs…: changes of all members that match a filter (docs/api/member-jobs.md
// "Member jobs"). service/member_jobs/run.cpp implements the runner's steps.
#include "service/member_jobs/jobs.hpp"

#include "api/groups.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "rules/access/roles.hpp"
#include "rules/members/core_field_checks.hpp"
#include "service/members/filter.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Choice;
using json::Text;
using rules::MemberAction;
using rules::MemberJob;
using rules::MemberJobCounts;
using rules::MemberJobFailure;
using rules::MemberJobFilter;
using rules::MemberJobId;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

// The texts of the attributes as a query has them.
using AttributeTexts = std::map<std::string, std::string>;

// The filter as it is sent: the registry decides what a value of an attribute may be.
struct SentFilter {
    std::optional<rules::MemberStatus> status;
    std::optional<std::string> country;
    std::optional<std::string> prefix;
    std::optional<Timestamp> updated_since;
    std::optional<ImportId> imported_by;
    std::optional<AttributeTexts> attributes;
};
struct SentMemberJob {
    MemberAction action{};
    std::optional<std::string> reason;
    SentFilter filter;
};

constexpr std::size_t kMostFilterBytes = 16'384;

// An object of texts, numbers and booleans.
struct ConditionValues {
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                AttributeTexts& out) const {
        const auto object = to.object(in, path);
        if (!object) return;
        if (json::minified(in).size() > kMostFilterBytes) {
            return to.fault(path, FieldCode::TooLong, longest(kMostFilterBytes));
        }
        for (const auto& [key, value] : *object) {
            if (!rules::is_condition_value(value)) {
                to.fault(json::Path(path, key), FieldCode::WrongType);
                continue;
            }
            const auto text = value.string();
            out.emplace(key, text ? std::string(*text) : json::minified(value));
        }
    }
    Json::Value schema() const {
        Json::Value value;
        for (const char* type : {"string", "number", "boolean"}) value["type"].append(type);
        return map_of(value);
    }
};

// A time as GET /v1/users takes it: before 1970, it selects all members.
struct FilterSince {
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                Timestamp& out) const {
        const auto text = to.string(in, path);
        if (!text) return;
        const auto when = Timestamp::parse_since(*text);
        if (!when) return to.fault(path, FieldCode::InvalidTimestamp);
        out = *when;
    }
    Json::Value schema() const { return json::Instant{}.schema(); }
};

// As `q` of GET /v1/users: "ann " does not select "anna", so spaces at its ends are kept.
struct FilterPrefix {
    static constexpr Text kText{1, 255};
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const {
        const auto text = in.string();
        if (text && utf8_length(*text) > kText.max) {
            return to.fault(path, FieldCode::TooLong, longest(kText.max));
        }
        kText.decode(in, path, to, out);
        if (out.empty()) return;
        out = *text;
        compose(out);
    }
    Json::Value schema() const { return kText.schema(); }
};

constexpr auto kMemberJobFilter =
    json::object<SentFilter>(
        json::optional("status", &SentFilter::status, Choice<rules::MemberStatus>{},
                       "Only members in this status."),
        json::optional("country", &SentFilter::country, Text{1, 255},
                       "Only members with this country: two letters of ISO 3166-1, ignoring case.",
                       "DE"),
        json::optional("q", &SentFilter::prefix, FilterPrefix{},
                       "Only members whose email, last_name, or full name begins with this text.",
                       "ann"),
        json::optional("updated_since", &SentFilter::updated_since, FilterSince{},
                       "Only members that changed at this time or later."),
        json::optional("imported_by", &SentFilter::imported_by, json::Uuid<ImportId>{},
                       "Only members that this import job created or attached."),
        json::optional("attributes", &SentFilter::attributes, ConditionValues{},
                       "Only members whose attributes have these values: a text, number or boolean "
                       "by key, up to 5. Of a multi_choice, one of the choices.",
                       R"({"shirt_size": "M"})"))
        .named("MemberJobFilter");

constexpr auto kNewMemberJob = json::object<SentMemberJob>(
    json::required("action", &SentMemberJob::action, Choice<MemberAction>{},
                   "What the job does with each member: lock, unlock or remove."),
    json::optional("reason", &SentMemberJob::reason, Text{1, 255}, "Reason of a lock, for people.",
                   "Fees not paid"),
    json::required("filter", &SentMemberJob::filter, kMemberJobFilter,
                   "The members. At least one condition; a member must match all of them."));

// Throws VALIDATION_ERROR with all faults.
MemberJobFilter checked_filter(OrgTransaction& transaction, const SentFilter& sent) {
    Faults faults;
    MemberJobFilter filter{sent.status,        sent.country,     sent.prefix,
                           sent.updated_since, sent.imported_by, {}};
    if (filter.country) {
        const auto fault = rules::normalize_country(*filter.country);
        if (fault) faults.add("filter.country", *fault);
    }
    if (sent.attributes) {
        filter.attributes = service::attribute_conditions(
            transaction.tx, transaction.org(), *sent.attributes, "filter.attributes.", faults);
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    return filter;
}

// ---------------------------------------------------------------------------- replies

constexpr auto kMemberJobCounts = record<MemberJobCounts>(
    "MemberJobCounts",
    field<&MemberJobCounts::changed>("changed", "Number of members that the commit changes.", "42"),
    field<&MemberJobCounts::unchanged>(
        "unchanged", "Number of members that are locked already, or active already.", "3"));
constexpr auto kMemberJobFailure = record<MemberJobFailure>(
    "MemberJobFailure",
    field<&MemberJobFailure::code>("code", "Code of the reason.", "MEMBER_JOB_ATTEMPTS_EXHAUSTED"),
    field<&MemberJobFailure::message>("message", "The reason, for people."));

// A record or null.
template <const auto& kRecord, auto Member>
constexpr auto optional_record(std::string_view name, std::string_view meaning) {
    return RecordField<MemberJob>{name, meaning,
                                  [](JsonWriter& to, const MemberJob& job) {
                                      (job.*Member) ? kRecord.write(to, *(job.*Member)) : to.null();
                                  },
                                  [] { return or_null(kRecord.schema()); }};
}

constexpr auto kMemberJob = record<MemberJob>(
    "MemberJob", field<&MemberJob::id>("id", "Id of the record."),
    field<&MemberJob::organization_id>("organization_id",
                                       "Id of the organization that the record belongs to."),
    field<&MemberJob::created_by_id>(
        "created_by_id", "Id of the admin who created the job; null for a job of an API key."),
    field<&MemberJob::created_by_email>("created_by_email",
                                        "Email address of that admin; null if there is none.",
                                        "ada@example.org"),
    field<&MemberJob::committed_by_id>(
        "committed_by_id",
        "Id of the admin who committed the job; null before, and for an API key."),
    field<&MemberJob::committed_by_email>("committed_by_email",
                                          "Email address of that admin; null if there is none.",
                                          "ada@example.org"),
    field<&MemberJob::action>("action", "What the job does with each member."),
    field<&MemberJob::reason>("reason", "Reason of a lock; null if none was given.",
                              "Fees not paid"),
    field<&MemberJob::filter>("filter",
                              "The filter that was sent, with its values in their normal form.",
                              R"({"country": "DE"})"),
    field<&MemberJob::state>(
        "state",
        "Current step of the job. validating, validated and committing are active. validating: the "
        "dry run counts the members."),
    field<&MemberJob::processed_count>(
        "processed_count", "Number of matching members that the current step has finished."),
    optional_record<kMemberJobCounts, &MemberJob::preview>(
        "preview", "Result of the dry run: what a commit would change; null before its end."),
    field<&MemberJob::counts, &MemberJobCounts::changed>(
        "changed_count", "Number of members that the commit has changed."),
    field<&MemberJob::counts, &MemberJobCounts::unchanged>(
        "unchanged_count", "Number of members that the commit found in the right status."),
    optional_record<kMemberJobFailure, &MemberJob::failure>(
        "failure", "Reason why the job failed; null in other states."),
    field<&MemberJob::phase_started_at>("phase_started_at", "Time when the job entered its state."),
    field<&MemberJob::heartbeat_at>(
        "heartbeat_at", "Time when the runner last worked on the job; null if it has not started."),
    field<&MemberJob::completed_at>(
        "completed_at", "Time when the job was completed, failed or canceled; null before."),
    field<&MemberJob::expires_at>("expires_at", "Time when the job is deleted."),
    field<&MemberJob::created_at>("created_at", "Time when the record was created."),
    field<&MemberJob::updated_at>("updated_at", "Time of the last change."));

constexpr auto kMemberJobList = list_of<kMemberJob>("MemberJobList", "member_jobs");

// ---------------------------------------------------------------------------- handlers

auto create_member_job(Call&, OrgTransaction& transaction, const SentMemberJob& in) {
    auto job = service::create_member_job(
        transaction, {in.action, in.reason, checked_filter(transaction, in.filter)});
    Answer answer = polled(std::move(job));
    answer.location = "/v1/member-jobs/" + answer.value.id.text();
    return answer;
}

auto list_member_jobs(Call& call) {
    auto jobs = service::list_member_jobs(call.context, call.org(), call.cursor_id<MemberJobId>(),
                                          call.query.integer("limit") + 1);
    return page_of(call, std::move(jobs));
}

auto get_member_job(Call& call) {
    auto job = service::find_member_job(call.context, call.org(), call.id<MemberJobId>());
    if (!job) throw Error(ErrorCode::NotFound);
    return polled(std::move(*job));
}

auto commit_member_job(Call& call, OrgTransaction& transaction, Nothing) {
    return polled(service::commit_member_job(transaction, call.id<MemberJobId>()));
}

auto cancel_member_job(Call& call, OrgTransaction& transaction, Nothing) {
    return service::cancel_member_job(transaction, call.id<MemberJobId>());
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kMemberJobListQuery = {page_limit(), kPageCursor};
constexpr std::array kMemberJobErrors = {ErrorCode::InvalidState};

constexpr std::array kMemberJobEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/member-jobs",
        .operation = "createMemberJob",
        .summary = "Prepare a change of all members that match a filter",
        .description =
            "Creates a job that locks, unlocks or removes all members that match the filter, and "
            "starts its dry run, which changes nothing and counts them. Poll getMemberJob until the "
            "state is validated, then commit. An organization has one active member job at a time: "
            "otherwise 409 INVALID_STATE with its job_id. It can create 200 a day: otherwise 429 "
            "QUOTA_EXCEEDED.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewMemberJob",
        .body_schema = schema_of<kNewMemberJob>,
        .body_example =
            R"({"action": "lock", "reason": "Fees not paid", "filter": {"country": "DE"}})",
        .reply = with_retry_after({201, "The job, in state validating."}),
        .errors = kMemberJobErrors,
        .handler =
            decoded<kNewMemberJob, retry_after_replay<answers<kMemberJob, create_member_job>>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/member-jobs",
             .operation = "listMemberJobs",
             .summary = "List member jobs, newest first",
             .description =
                 "Lists the member jobs of the organization, the newest first. Jobs are deleted 30 "
                 "days after creation.",
             .query = kMemberJobListQuery,
             .reply = {200, "A page of jobs."},
             .handler = answers<kMemberJobList, list_member_jobs>},
    Endpoint{.method = Method::Get,
             .path = "/v1/member-jobs/{id}",
             .operation = "getMemberJob",
             .summary = "Read a member job with its counts",
             .description =
                 "Returns the job with its counts. Poll it while the state is validating or "
                 "committing, no faster than Retry-After.",
             .reply = with_retry_after({200, "The job."}),
             .handler = answers<kMemberJob, get_member_job>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/member-jobs/{id}/commit",
        .operation = "commitMemberJob",
        .summary = "Change the members of a job",
        .description =
            "Starts to change the members that match the filter at that time. Each has the same "
            "effects as a call of lockUser, unlockUser or removeUser: its event and its entry in the "
            "audit log. The job continues after a crash.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = with_retry_after({202, "The job, in state committing."}),
        .errors = kMemberJobErrors,
        .handler = decoded<kNothing, retry_after_replay<answers<kMemberJob, commit_member_job>>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/member-jobs/{id}/cancel",
        .operation = "cancelMemberJob",
        .summary = "Cancel a member job",
        .description =
            "Cancels an active job. A commit ends within 100 members; members that it has changed "
            "stay changed. A canceled job is returned as it is.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {200, "The job, canceled."},
        .errors = kMemberJobErrors,
        .handler = decoded<kNothing, answers<kMemberJob, cancel_member_job>>},
};
static_assert(well_formed(kMemberJobEndpoints, "/v1/member-jobs"));

}  // namespace

std::span<const Endpoint> member_job_endpoints() {
    return kMemberJobEndpoints;
}

}  // namespace muster::api
