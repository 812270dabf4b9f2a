// Column names of members' fields in common exports (Mailchimp, HubSpot, Salesforce, Ghost, Google
// Contacts, WooCommerce and others) and in spreadsheets in English, German, French, Spanish, Dutch,
// Italian and Portuguese, as data for column_guess. nginx/static/console/imports/column_names.js is
// a copy: change both.
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
    ColumnNames{
        "email",
        "email emailaddress mail mailaddress emailadresse mailadresse primaryemail "
        "email1value email1address email1 emailvalue useremail contactemail customeremail "
        "buyeremail billingemail emailbilling personalemail homeemail emailprivat workemail "
        "emailgeschaeftlich adressemail adresseemail courriel adressecourriel "
        "adresseelectronique correo correoelectronico direcciondecorreo "
        "direcciondecorreoelectronico direccionemail emailadres mailadres "
        "indirizzoemail indirizzomail postaelettronica enderecodeemail enderecoemail "
        "correioeletronico subscriber"},
    ColumnNames{"external_id",
                "externalid externalreference externalidentifier membershipnumber membernumber "
                "memberno memberid membershipid mitgliedsnummer mitgliedsnr mitgliednummer "
                "mitgliednr mitgliedsid customerid customernumber customerno kundennummer kundennr "
                "kundenid clientid contactid contactid18 recordid personid personennummer userid "
                "uniqueid reference referenz numerodadherent numeroadherent nadherent ndadherent "
                "numerodemembre numerodeclient numeroclient numerodesocio numerosocio ndesocio "
                "nsocio numerodecliente lidnummer lidmaatschapsnummer klantnummer numerosocia "
                "numerotessera codicecliente numerodeassociado numerodocliente euid leid "
                "attendeeid attendeenumber id"},
    ColumnNames{"first_name",
                "firstname givenname forename vorname rufname fname first billingfirstname "
                "firstnamebilling customerfirstname attendeefirstname prenom prenoms nombre "
                "nombredepila primernombre voornaam roepnaam nome primeironome nomeproprio"},
    ColumnNames{"last_name",
                "lastname familyname surname nachname familienname zuname lname last "
                "billinglastname lastnamebilling customerlastname attendeelastname nom "
                "nomdefamille apellido apellidos achternaam familienaam cognome apelido sobrenome "
                "ultimonome"},
    ColumnNames{"display_name",
                "displayname fullname name anzeigename vollername vollstaendigername preferredname "
                "contactname customername membername nomcomplet nombrecompleto nombreyapellidos "
                "volledigenaam naam nomecompleto nomeecognome nickname spitzname"},
    ColumnNames{"locale",
                "locale languagecode language preferredlanguage lang sprachcode sprache "
                "bevorzugtesprache langue idioma taal lingua"},
    // A column of codes before one of names.
    ColumnNames{"country",
                "countrycode countryiso countryisocode isocountry isocountrycode laendercode "
                "landcode laenderkuerzel landkuerzel mailingcountrycode countrycodebilling "
                "billingcountrycode defaultaddresscountrycode codepays codigopais cc country "
                "countryregion land staat billingcountry countrybilling mailingcountry homecountry "
                "homecountryregion address1country cardaddresscountry shippingcountry pays pais "
                "paese nazione"},
    ColumnNames{"dob",
                "dob dateofbirth birthdate birthday geburtsdatum geburtstag gebdatum geborenam "
                "geboren gebam datedenaissance naissance fechadenacimiento fechanacimiento "
                "nacimiento geboortedatum datadinascita datanascita datadenascimento "
                "datanascimento"},
    ColumnNames{
        "attribute:phone",
        "phone phonenumber telephone telefon telefonnummer tel phone1value mobilephone "
        "mobilephonenumber mobile mobilenumber mobil mobilnummer mobiltelefon handy "
        "handynummer cell cellphone billingphone phonebilling homephone otherphone "
        "workphone defaultaddressphone sms telefono telefonomovil movil telefoon "
        "telefoonnummer gsm portable telephoneportable cellulare telefone telemovel celular "
        "phone1"},
    ColumnNames{"attribute:gender", "gender sex geschlecht sexe genre sexo genero geslacht sesso"},
    ColumnNames{"attribute:address.line1",
                "addressline1 address1 streetaddress street strasse strassehausnummer "
                "strasseundhausnummer strassenr address adresse anschrift addressstreet "
                "address1street billingaddress1 address12billing mailingstreet homestreet "
                "billingaddressline1 defaultaddressaddress1 cardaddressline1 rue adressepostale "
                "direccion calle domicilio adres straat indirizzo endereco morada rua"},
    ColumnNames{"attribute:address.city",
                "city town ort stadt wohnort addresscity address1city billingcity citybilling "
                "mailingcity homecity defaultaddresscity cardaddresscity shippingcity ville ciudad "
                "localidad poblacion stadplaats plaats woonplaats stad citta cidade localidade"},
    ColumnNames{"attribute:address.postcode",
                "postcode postalcode zip zipcode zippostalcode plz postleitzahl "
                "address1postalcode billingpostcode postcodebilling mailingpostalcode "
                "mailingzippostalcode homepostalcode billingzip defaultaddresszip cardaddresszip "
                "shippingzip codepostal codigopostal cap codicepostale"},
    ColumnNames{"attribute:favourite_team",
                "favouriteteam favoriteteam favteam lieblingsverein lieblingsmannschaft "
                "lieblingsteam team"},
    ColumnNames{"attribute:shirt_size",
                "shirtsize tshirtsize jerseysize tshirtgroesse shirtgroesse trikotgroesse "
                "kleidergroesse konfektionsgroesse tailletshirt tallacamiseta tshirtmaat "
                "maattshirt tagliamaglietta tamanhodacamiseta"},
    ColumnNames{"attribute:emergency_contact",
                "emergencycontact emergencycontactname notfallkontakt contactdurgence "
                "contactodeemergencia noodcontact contattodiemergenza contatodeemergencia"},
};

}  // namespace muster::client
