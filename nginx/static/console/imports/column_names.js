// Column names of members' fields in common exports and spreadsheets, in seven languages, the best first.
// A copy of src/client/column_names.hpp: change both. tests/e2e/console/test_console_modules.py compares them.

/** @type {Array<[string, string]>} */
export const NAMES = [
  ["email",
    "email emailaddress mail mailaddress emailadresse mailadresse primaryemail email1value email1address email1 " +
    "emailvalue useremail contactemail customeremail buyeremail billingemail emailbilling personalemail homeemail " +
    "emailprivat workemail emailgeschaeftlich adressemail adresseemail courriel adressecourriel adresseelectronique " +
    "correo correoelectronico direcciondecorreo direcciondecorreoelectronico direccionemail emailadres mailadres " +
    "indirizzoemail indirizzomail postaelettronica enderecodeemail enderecoemail correioeletronico subscriber"],
  ["external_id",
    "externalid externalreference externalidentifier membershipnumber membernumber memberno memberid membershipid " +
    "mitgliedsnummer mitgliedsnr mitgliednummer mitgliednr mitgliedsid customerid customernumber customerno " +
    "kundennummer kundennr kundenid clientid contactid contactid18 recordid personid personennummer userid uniqueid " +
    "reference referenz numerodadherent numeroadherent nadherent ndadherent numerodemembre numerodeclient numeroclient " +
    "numerodesocio numerosocio ndesocio nsocio numerodecliente lidnummer lidmaatschapsnummer klantnummer numerosocia " +
    "numerotessera codicecliente numerodeassociado numerodocliente euid leid attendeeid attendeenumber id"],
  ["first_name",
    "firstname givenname forename vorname rufname fname first billingfirstname firstnamebilling customerfirstname " +
    "attendeefirstname prenom prenoms nombre nombredepila primernombre voornaam roepnaam nome primeironome " +
    "nomeproprio"],
  ["last_name",
    "lastname familyname surname nachname familienname zuname lname last billinglastname lastnamebilling " +
    "customerlastname attendeelastname nom nomdefamille apellido apellidos achternaam familienaam cognome apelido " +
    "sobrenome ultimonome"],
  ["display_name",
    "displayname fullname name anzeigename vollername vollstaendigername preferredname contactname customername " +
    "membername nomcomplet nombrecompleto nombreyapellidos volledigenaam naam nomecompleto nomeecognome nickname " +
    "spitzname"],
  ["locale",
    "locale languagecode language preferredlanguage lang sprachcode sprache bevorzugtesprache langue idioma taal " +
    "lingua"],
  ["country",
    "countrycode countryiso countryisocode isocountry isocountrycode laendercode landcode laenderkuerzel landkuerzel " +
    "mailingcountrycode countrycodebilling billingcountrycode defaultaddresscountrycode codepays codigopais cc " +
    "country countryregion land staat billingcountry countrybilling mailingcountry homecountry homecountryregion " +
    "address1country cardaddresscountry shippingcountry pays pais paese nazione"],
  ["dob",
    "dob dateofbirth birthdate birthday geburtsdatum geburtstag gebdatum geborenam geboren gebam datedenaissance " +
    "naissance fechadenacimiento fechanacimiento nacimiento geboortedatum datadinascita datanascita datadenascimento " +
    "datanascimento"],
  ["attribute:phone",
    "phone phonenumber telephone telefon telefonnummer tel phone1value mobilephone mobilephonenumber mobile " +
    "mobilenumber mobil mobilnummer mobiltelefon handy handynummer cell cellphone billingphone phonebilling " +
    "homephone otherphone workphone defaultaddressphone sms telefono telefonomovil movil telefoon telefoonnummer gsm " +
    "portable telephoneportable cellulare telefone telemovel celular phone1"],
  ["attribute:gender",
    "gender sex geschlecht sexe genre sexo genero geslacht sesso"],
  ["attribute:address.line1",
    "addressline1 address1 streetaddress street strasse strassehausnummer strasseundhausnummer strassenr address " +
    "adresse anschrift addressstreet address1street billingaddress1 address12billing mailingstreet homestreet " +
    "billingaddressline1 defaultaddressaddress1 cardaddressline1 rue adressepostale direccion calle domicilio adres " +
    "straat indirizzo endereco morada rua"],
  ["attribute:address.city",
    "city town ort stadt wohnort addresscity address1city billingcity citybilling mailingcity homecity " +
    "defaultaddresscity cardaddresscity shippingcity ville ciudad localidad poblacion stadplaats plaats woonplaats " +
    "stad citta cidade localidade"],
  ["attribute:address.postcode",
    "postcode postalcode zip zipcode zippostalcode plz postleitzahl address1postalcode billingpostcode " +
    "postcodebilling mailingpostalcode mailingzippostalcode homepostalcode billingzip defaultaddresszip " +
    "cardaddresszip shippingzip codepostal codigopostal cap codicepostale"],
  ["attribute:favourite_team",
    "favouriteteam favoriteteam favteam lieblingsverein lieblingsmannschaft lieblingsteam team"],
  ["attribute:shirt_size",
    "shirtsize tshirtsize jerseysize tshirtgroesse shirtgroesse trikotgroesse kleidergroesse konfektionsgroesse " +
    "tailletshirt tallacamiseta tshirtmaat maattshirt tagliamaglietta tamanhodacamiseta"],
  ["attribute:emergency_contact",
    "emergencycontact emergencycontactname notfallkontakt contactdurgence contactodeemergencia noodcontact " +
    "contattodiemergenza contatodeemergencia"],
]
