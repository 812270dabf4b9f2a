// Column names of members' fields in common exports (Mailchimp, HubSpot, Salesforce, Ghost, Google
// Contacts, WooCommerce) and in spreadsheets in English and German, as data for column_guess.
#pragma once

#include <array>
#include <string_view>

namespace muster::client {

// `names`: as column_key() writes them, separated by spaces, the best first. If a file has several
// of them, the first in this order is imported and the others are ignored. `target`: a core field,
// or attribute:KEY (used only if the organization has that attribute enabled).
struct ColumnNames {
    std::string_view target;
    std::string_view names;
};

// To add a name, write it into its row. A test ensures that each name has one row.
inline constexpr std::array kColumnNames = {
    ColumnNames{"email",
                "email emailaddress mail mailaddress emailadresse mailadresse primaryemail "
                "email1value emailvalue useremail contactemail billingemail emailbilling "
                "personalemail homeemail emailprivat workemail emailgeschaeftlich"},
    ColumnNames{"external_id",
                "externalid externalreference membershipnumber membernumber memberno memberid "
                "membershipid mitgliedsnummer mitgliedsnr mitgliednummer mitgliednr mitgliedsid "
                "customerid customernumber customerno kundennummer kundennr kundenid clientid "
                "contactid contactid18 recordid personid personennummer userid uniqueid reference "
                "referenz euid leid id"},
    ColumnNames{"first_name",
                "firstname givenname forename vorname rufname fname first billingfirstname "
                "firstnamebilling"},
    ColumnNames{"last_name",
                "lastname familyname surname nachname familienname zuname lname last "
                "billinglastname lastnamebilling"},
    ColumnNames{"display_name",
                "displayname fullname name anzeigename vollername vollstaendigername preferredname "
                "contactname membername nickname spitzname"},
    ColumnNames{"locale",
                "locale languagecode language preferredlanguage lang sprachcode sprache "
                "bevorzugtesprache"},
    // A column of codes before one of names: the API takes ISO 3166-1 alpha-2 only.
    ColumnNames{"country",
                "countrycode countryiso countryisocode isocountry isocountrycode laendercode "
                "landcode laenderkuerzel landkuerzel mailingcountrycode countrycodebilling cc "
                "country countryregion land staat billingcountry countrybilling mailingcountry "
                "homecountry address1country"},
    ColumnNames{"dob",
                "dob dateofbirth birthdate birthday geburtsdatum geburtstag gebdatum geborenam "
                "geboren gebam"},
    ColumnNames{"attribute:phone",
                "phone phonenumber telephone telefon telefonnummer tel phone1value mobilephone "
                "mobilephonenumber mobile mobilenumber mobil mobilnummer mobiltelefon handy "
                "handynummer cell cellphone billingphone phonebilling homephone otherphone "
                "workphone"},
    ColumnNames{"attribute:gender", "gender sex geschlecht"},
    ColumnNames{"attribute:address.line1",
                "addressline1 address1 streetaddress street strasse strassehausnummer "
                "strasseundhausnummer strassenr address adresse anschrift addressstreet "
                "address1street billingaddress1 address12billing mailingstreet homestreet"},
    ColumnNames{"attribute:address.city",
                "city town ort stadt wohnort addresscity address1city billingcity citybilling "
                "mailingcity homecity"},
    ColumnNames{"attribute:address.postcode",
                "postcode postalcode zip zipcode zippostalcode plz postleitzahl "
                "address1postalcode billingpostcode postcodebilling mailingpostalcode "
                "mailingzippostalcode homepostalcode"},
    ColumnNames{"attribute:favourite_team",
                "favouriteteam favoriteteam favteam lieblingsverein lieblingsmannschaft "
                "lieblingsteam team"},
    ColumnNames{"attribute:shirt_size",
                "shirtsize tshirtsize jerseysize tshirtgroesse shirtgroesse trikotgroesse "
                "kleidergroesse konfektionsgroesse"},
    ColumnNames{"attribute:emergency_contact",
                "emergencycontact emergencycontactname notfallkontakt"},
};

}  // namespace muster::client
