// The values of a command line, its organization, and the confirmation of a command.
#include "base/printable.hpp"
#include "ctl/command.hpp"
#include "service/access/organizations.hpp"

namespace muster::ctl {
namespace {

// The one organization of that name. Throws UsageError unless exactly one has it.
OrgId organization_named(const Invocation& in, const std::string& option, const std::string& name) {
    const auto found = service::organizations_named(in.context, name);
    if (found.empty()) {
        throw invalid_value(option, name, "an id or an exact name of `musterctl org list`");
    }
    if (found.size() == 1) return found.front().id;
    std::string text = option + " is " + in_quotes(name) +
                       ", and several organizations have this name; use an id:";
    for (const rules::Organization& one : found) {
        text += " " + one.id.text();
        if (one.state == rules::OrganizationState::Deleting) text += " (deleting)";
    }
    throw UsageError(text);
}

OrgId organization_of(const Invocation& in, const std::string& option, const std::string& text) {
    const auto id = OrgId::parse(text);
    if (!id) return organization_named(in, option, text);
    service::require_organization(in.context, *id);
    return *id;
}

}  // namespace

std::string checked_value(std::string_view option, std::string_view value,
                          std::string (*check)(std::string_view)) {
    try {
        return check(value);
    } catch (const std::invalid_argument& error) {
        throw UsageError(std::string(option) + " is " + in_quotes(value) + ": " + error.what());
    }
}

const std::string& Invocation::required(std::string_view option) const {
    const auto found = line.options.find(option);
    if (found == line.options.end()) throw UsageError(std::string(option) + " is missing");
    return found->second.back();
}

std::string Invocation::optional(std::string_view option, std::string_view fallback) const {
    return line.value(option, fallback);
}

std::string Invocation::name() const {
    return checked_value("--name", required("--name"), service::checked_name);
}

std::string Invocation::email() const {
    return checked_value("--email", required("--email"), service::checked_address);
}

OrgId Invocation::organization() const {
    return organization_of(*this, "--org", required("--org"));
}

OrgId Invocation::lasting_organization() const {
    const OrgId id = organization();
    const auto found = service::find_organization(context, id);
    if (found && found->state == rules::OrganizationState::Deleting) {
        throw CommandError("the organization " + id.text() +
                           " is being deleted; `musterctl org list` shows the others");
    }
    return id;
}

OrgId Invocation::organization_argument() const {
    if (arguments.size() != 1) {
        throw UsageError("this command needs one ORG, an id or a name of `musterctl org list`");
    }
    return organization_of(*this, "ORG", arguments.front());
}

void Invocation::confirm(const std::string& question) const {
    if (flag("--yes")) return;
    if (!ask) {
        throw UsageError("--yes is missing, and there is no terminal to ask on: " + question);
    }
    if (!ask(question)) throw CommandError("not confirmed; nothing was changed");
}

}  // namespace muster::ctl
