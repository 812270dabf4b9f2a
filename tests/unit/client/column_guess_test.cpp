// client/column_guess.hpp: guessing the targets of columns for common exports, and options that
// override the guess.
#include "client/column_guess.hpp"

#include "base/text.hpp"
#include "client/column_key.hpp"
#include "client/column_names.hpp"
#include "rules/attributes.hpp"
#include "rules/members/core_fields.hpp"

#include "print.hpp"

#include <set>

using namespace muster;
using namespace muster::client;

namespace {

using rules::AttributeType;

rules::AttributeRegistry registry() {
    return rules::AttributeRegistry({
        {"phone", "Phone", AttributeType::Text, {}, true},
        {"gender", "Gender", AttributeType::SingleChoice, {"female", "male"}, true},
        {"address.line1", "Address", AttributeType::Text, {}, true},
        {"address.city", "City", AttributeType::Text, {}, true},
        {"address.postcode", "Postcode", AttributeType::Text, {}, true},
        {"shirt_size", "Shirt size", AttributeType::SingleChoice, {"S", "M"}, true},
        {"favourite_team", "Favourite team", AttributeType::Text, {}, false},
        {"boat_length", "Länge des Bootes", AttributeType::Number, {}, true},
        {"country", "Country of the team", AttributeType::Text, {}, true},
    });
}

// "email external_id - attribute:phone": the targets of the columns; - means ignored.
std::string targets(const std::vector<std::string>& header,
                    const std::vector<MapOption>& maps = {}) {
    std::string text;
    for (const ColumnRoute& route : route_columns(unique_column_names(header), maps, registry())) {
        const std::string target = target_text(route);
        text += (text.empty() ? "" : " ") + (target == "ignored" ? "-" : target);
    }
    return text;
}

void refuses(const std::vector<MapOption>& maps, std::string_view part) {
    BOOST_CHECK_EXCEPTION(
        targets({"Email", "Phone", "Notes"}, maps), UsageError, [&](const UsageError& error) {
            BOOST_TEST_MESSAGE(error.what());
            return std::string_view(error.what()).find(part) != std::string_view::npos;
        });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_column_guess)

BOOST_AUTO_TEST_CASE(names_are_compared_without_case_space_punctuation_and_umlauts) {
    BOOST_TEST(column_key(" E-Mail 1 - Value ") == "email1value");
    BOOST_TEST(column_key("T-Shirt-GRÖSSE") == "tshirtgroesse");
    BOOST_TEST(column_key("T-Shirt-Größe") == "tshirtgroesse");
    BOOST_TEST(column_key("La\xCC\x88ndercode") == "laendercode");
    BOOST_TEST(column_key("Straße/Nr.") == "strassenr");
    BOOST_TEST(column_key("Имя") == "Имя");
    BOOST_TEST(column_key("--") == "");
}

BOOST_AUTO_TEST_CASE(the_table_is_normalized_and_has_no_duplicates) {
    std::set<std::string> seen;
    for (const ColumnNames& row : kColumnNames) {
        for (const std::string_view name : split(row.names, ' ')) {
            BOOST_TEST(column_key(name) == name);
            BOOST_TEST(seen.insert(std::string(name)).second, "twice: " << name);
        }
        const bool is_attribute = row.target.starts_with("attribute:");
        BOOST_TEST((is_attribute || rules::core_field(row.target).has_value()));
    }
}

BOOST_AUTO_TEST_CASE(common_exports_are_recognized) {
    // Mailchimp
    BOOST_TEST(
        targets({"Email Address", "First Name", "Last Name", "Address", "Phone Number", "Birthday",
                 "MEMBER_RATING", "OPTIN_TIME", "CC", "REGION", "LEID", "EUID", "NOTES", "TAGS"}) ==
        "email first_name last_name attribute:address.line1 attribute:phone dob - - country - - "
        "external_id - -");
    // HubSpot
    BOOST_TEST(targets({"Record ID", "First Name", "Last Name", "Email", "Phone Number",
                        "Mobile Phone Number", "Contact owner", "Country/Region", "Street Address",
                        "City", "Postal Code", "Date of birth"}) ==
               "external_id first_name last_name email attribute:phone - - country "
               "attribute:address.line1 "
               "attribute:address.city attribute:address.postcode dob");
    // Salesforce
    BOOST_TEST(targets({"Id", "LastName", "FirstName", "MailingStreet", "MailingCity",
                        "MailingPostalCode", "MailingCountry", "MailingCountryCode", "Phone",
                        "MobilePhone", "Email", "Birthdate"}) ==
               "external_id last_name first_name attribute:address.line1 attribute:address.city "
               "attribute:address.postcode - country attribute:phone - email dob");
    // Ghost
    BOOST_TEST(targets({"id", "email", "name", "note", "subscribed_to_emails", "created_at",
                        "labels", "tiers"}) == "external_id email display_name - - - - -");
    // Google Contacts, old and new format
    BOOST_TEST(targets({"Name", "Given Name", "Family Name", "Birthday", "Gender",
                        "E-mail 1 - Type", "E-mail 1 - Value", "E-mail 2 - Value",
                        "Phone 1 - Value", "Address 1 - City", "Address 1 - Country"}) ==
               "display_name first_name last_name dob attribute:gender - email - attribute:phone "
               "attribute:address.city "
               "country");
    BOOST_TEST(targets({"First Name", "Middle Name", "Last Name", "Nickname", "E-mail 1 - Label",
                        "E-mail 1 - Value"}) == "first_name - last_name display_name - email");
    // WooCommerce
    BOOST_TEST(
        targets({"customer_id", "user_login", "user_email", "first_name", "last_name",
                 "display_name", "locale", "billing_email", "billing_country", "billing_phone",
                 "billing_postcode"}) ==
        "external_id - email first_name last_name display_name locale - country attribute:phone "
        "attribute:address.postcode");
    BOOST_TEST(
        targets({"Name", "Username", "Last Active", "Email", "Orders", "Country / Region", "City",
                 "Postal code"}) ==
        "display_name - - email - country attribute:address.city attribute:address.postcode");
}

BOOST_AUTO_TEST_CASE(german_lists_are_recognized) {
    BOOST_TEST(targets({"Mitglieds-Nr.", "Vorname", "Name", "E-Mail-Adresse", "Geburtsdatum",
                        "Straße", "PLZ", "Ort", "Land", "Telefon", "Handy", "T-Shirt-Größe"}) ==
               "external_id first_name last_name email dob attribute:address.line1 "
               "attribute:address.postcode "
               "attribute:address.city country attribute:phone - attribute:shirt_size");
    BOOST_TEST(targets({"Vorname", "Nachname", "Name", "Mail"}) ==
               "first_name last_name display_name email");
}

BOOST_AUTO_TEST_CASE(lists_in_other_languages_are_recognized) {
    const std::vector<std::vector<std::string>> lists = {
        {"Numéro d'adhérent", "Prénom", "Nom", "Adresse e-mail", "Date de naissance", "Pays",
         "Téléphone", "Ville", "Code postal", "Sexe"},
        {"Nº de socio", "Nombre", "Apellidos", "Correo electrónico", "Fecha de nacimiento", "País",
         "Teléfono", "Ciudad", "Código postal", "Sexo"},
        {"Lidnummer", "Voornaam", "Achternaam", "E-mailadres", "Geboortedatum", "Land",
         "Telefoonnummer", "Woonplaats", "Postcode", "Geslacht"},
        {"Numero tessera", "Nome", "Cognome", "Indirizzo e-mail", "Data di nascita", "Paese",
         "Cellulare", "Città", "CAP", "Sesso"},
        {"Número de associado", "Nome próprio", "Apelido", "Endereço de e-mail",
         "Data de nascimento", "País", "Telemóvel", "Localidade", "Código Postal", "Género"},
    };
    for (const std::vector<std::string>& list : lists) {
        BOOST_TEST_CONTEXT(list[1]) {
            BOOST_TEST(targets(list) ==
                       "external_id first_name last_name email dob country attribute:phone "
                       "attribute:address.city attribute:address.postcode attribute:gender");
        }
    }
    BOOST_TEST(targets({"Voornaam", "Naam", "E-mail"}) == "first_name last_name email");
    BOOST_TEST(targets({"Subscriber", "Name", "Last name"}) == "email first_name last_name");
    BOOST_TEST(targets({"N° d'adhérent", "Courriel"}) == "external_id email");
    BOOST_TEST(targets({"Nom", "Courriel"}) == "display_name email");
    BOOST_TEST(targets({"Nombre", "Correo"}) == "display_name email");
}

BOOST_AUTO_TEST_CASE(an_error_report_can_be_imported) {
    BOOST_TEST(
        targets({"email", "external_id", "first_name", "last_name", "display_name", "locale",
                 "country", "dob", "attributes", "row_number", "error_code", "error_message"}) ==
        "email external_id first_name last_name display_name locale country dob attributes - - -");
}

BOOST_AUTO_TEST_CASE(enabled_attributes_are_found_by_key_and_label) {
    BOOST_TEST(targets({"email", "Boat length"}) == "email attribute:boat_length");
    BOOST_TEST(targets({"email", "LAENGE DES BOOTES"}) == "email attribute:boat_length");
    BOOST_TEST(targets({"email", "länge des bootes", "boat_length"}) ==
               "email - attribute:boat_length");
    BOOST_TEST(targets({"email", "Favourite team"}) == "email -");
}

BOOST_AUTO_TEST_CASE(a_column_that_an_export_names_by_its_target_is_found) {
    BOOST_TEST(targets({"email", "country", "attribute:country", "attribute:phone"}) ==
               "email country attribute:country attribute:phone");
    BOOST_TEST(targets({"email", "attribute:unknown", "attribute:"}) == "email - -");
}

BOOST_AUTO_TEST_CASE(the_best_name_wins_in_any_order) {
    BOOST_TEST(targets({"Work Email", "Email", "Billing Email"}) == "- email -");
    BOOST_TEST(targets({"Email", "Country", "Country Code"}) == "email - country");
    BOOST_TEST(targets({"Email", "Email"}) == "email -");
}

BOOST_AUTO_TEST_CASE(map_overrides_the_guess) {
    BOOST_TEST(targets({"Email", "Billing Email"}, {{"Billing Email", "email"}}) == "- email");
    BOOST_TEST(targets({"Email", "Mobile", "Phone"}, {{"phone", "ignored"}}) ==
               "email attribute:phone -");
    BOOST_TEST(targets({"Kontakt"}, {{"kontakt", "email"}}) == "email");
    BOOST_TEST(targets({"Email", "Notes"}, {{"Notes", "attribute:boat_length"}}) ==
               "email attribute:boat_length");
    BOOST_TEST(targets({"Email", "Email"}, {{"Email (2)", "email"}}) == "- email");
}

BOOST_AUTO_TEST_CASE(an_invalid_map_is_refused_with_the_choices) {
    refuses({{"Mail", "email"}}, "\"Notes\"");
    refuses({{"Notes", "nickname"}}, "unknown target; use email,");
    refuses({{"Notes", "phone"}}, "use attribute:phone");
    refuses({{"Notes", "attribute:favourite_team"}}, "boat_length");
    refuses({{"Notes", "email"}, {"Phone", "email"}},
            "--map: the columns Notes and Phone go to email; map one of them");
    refuses({{"Notes", "email"}, {"Notes", "email"}}, "--map Notes is given twice");
    refuses({{"Notes", "email"}, {"Notes", "ignored"}}, "is given twice");
    refuses({{"Email", "ignored"}}, "--map 'COLUMN=email'");
}

BOOST_AUTO_TEST_CASE(a_column_of_a_disabled_attribute_is_recognized) {
    rules::Attribute phone;
    phone.key = "phone";
    phone.label = "Call me";
    const rules::AttributeRegistry disabled({phone});
    for (const char* column : {"Phone", "call me", "Phone Number", "Telefon"}) {
        BOOST_TEST(disabled_attribute(column, disabled) == "phone", column);
    }
    BOOST_TEST(disabled_attribute("Notes", disabled) == "");
    phone.enabled = true;
    BOOST_TEST(disabled_attribute("Phone", rules::AttributeRegistry({phone})) == "");
}

BOOST_AUTO_TEST_CASE(column_names_become_unique) {
    const std::vector<std::string> names =
        unique_column_names({" Email ", "", "Email", "Email (2)", "Email"});
    const std::vector<std::string> expected = {"Email", "column 2", "Email (2)", "Email (2) (2)",
                                               "Email (3)"};
    BOOST_TEST(names == expected, boost::test_tools::per_element());
    const std::vector<std::string> questions =
        unique_column_names({"Do you come?\r\n\u0085 \u2028(choose one)", std::string(300, 'x'),
                             std::string(300, 'x')});
    BOOST_TEST(questions[0] == "Do you come? (choose one)");
    BOOST_TEST(questions[1] == std::string(240, 'x'));
    BOOST_TEST(questions[2] == std::string(240, 'x') + " (2)");
    BOOST_TEST(unique_column_names({"Email", "Email\x01"})[1] == "Email (2)");
    std::string umlauts;
    for (int i = 0; i < 300; ++i) umlauts += "ä";
    BOOST_TEST(unique_column_names({umlauts})[0] == umlauts.substr(0, 480));
}

BOOST_AUTO_TEST_CASE(the_mapping_names_every_column_and_passes_the_server_check) {
    const auto routes = route_columns({"Email", "Phone", "attributes", "Notes"}, {}, registry());
    const rules::Mapping mapping = to_mapping(routes);
    Faults faults;
    rules::check_mapping(mapping, registry(), faults);
    BOOST_TEST(faults.empty());
    BOOST_REQUIRE(mapping.columns.size() == 4);
    BOOST_TEST(mapping.columns[0].field_key == "email");
    BOOST_TEST(mapping.columns[1].attribute_key == "phone");
    BOOST_TEST(mapping.columns[2].target == "ignored");
    BOOST_TEST(mapping.columns[3].target == "ignored");
}

BOOST_AUTO_TEST_SUITE_END()
