"""muster-import(1) with the exports of other products (tests/data/exports): columns, rows and values of each."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.stack import ROOT
from support.world import Organization

EXPORTS = ROOT / "tests/data/exports"
ALL_IN, SOME_NOT_IN = 0, 2
ORGANIZATIONS = 4

# {file: (columns, rows, imported rows, values left out, a sample of each reason)}. The rows that are not imported have no
# address: people without one, organizations, and the footer of a report.
EXPECTED = {
    "activecampaign.csv": (
        "Email > email; First Name > first_name; Last Name > last_name; Phone > attribute:phone (text); Birthday > "
        "dob (dates as YYYY-MM-DD); Country > country",
        2, 2, 0, []),
    "brevo.csv": (
        "CONTACT ID > external_id; EMAIL > email; VORNAME > first_name; NACHNAME > last_name; SMS > "
        "attribute:phone (text); LAND > country; GEBURTSDATUM > dob (dates as DD-MM-YYYY)",
        2, 2, 0, []),
    "civicrm.csv": (
        "Contact ID > external_id; First Name > first_name; Last Name > last_name; Gender > attribute:gender "
        "(single_choice); Birth Date > dob (dates as YYYY-MM-DD); Street Address > attribute:address.line1 (text); "
        "City > attribute:address.city (text); Postal Code > attribute:address.postcode (text); Country > country; "
        "Email > email; Phone > attribute:phone (text)",
        3, 2, 0, []),
    "columns-300.csv": (
        "Email > email; Name > display_name",
        2, 2, 0, []),
    "dutch.csv": (
        "Lidnummer > external_id; Voornaam > first_name; Achternaam > last_name; E-mailadres > email; "
        "Telefoonnummer > attribute:phone (text); Woonplaats > attribute:address.city (text); Postcode > "
        "attribute:address.postcode (text); Land > country; Geboortedatum > dob (dates as DD-MM-YYYY)",
        1, 1, 0, []),
    "eventbrite-attendees.csv": (
        "First Name > first_name; Last Name > last_name; Email > email; Home City > attribute:address.city (text); "
        "Home Country > country; Cell Phone > attribute:phone (text); Gender > attribute:gender (single_choice); "
        "Birth Date > dob (dates as YYYY-MM-DD); T-Shirt Size > attribute:shirt_size (single_choice)",
        2, 2, 1, ['T-Shirt Size is "One size"']),
    "excel-french-iso-8859-15.csv": (
        "N° d'adhérent > external_id; Prénom > first_name; Nom > last_name; Adresse > attribute:address.line1 (text); "
        "Code postal > attribute:address.postcode (text); Ville > attribute:address.city (text); Pays > country; "
        "Téléphone > attribute:phone (text); Adresse e-mail > email; Date de naissance > dob (dates as DD/MM/YYYY)",
        2, 2, 0, []),
    "excel-german-sep.csv": (
        "Mitgliedsnr. > external_id; Vorname > first_name; Nachname > last_name; Straße > attribute:address.line1 "
        "(text); PLZ > attribute:address.postcode (text); Ort > attribute:address.city (text); Land > country; "
        "Telefon > attribute:phone (text); E-Mail > email; Geburtsdatum > dob (dates as DD.MM.YYYY); T-Shirt-Größe "
        "> attribute:shirt_size (single_choice); VIP > attribute:vip (boolean)",
        4, 3, 1, ['Geburtsdatum is "unbekannt"']),
    "excel-german-unicode.txt": (
        "Mitgliedsnr. > external_id; Vorname > first_name; Nachname > last_name; Straße > attribute:address.line1 "
        "(text); PLZ > attribute:address.postcode (text); Ort > attribute:address.city (text); Land > country; "
        "Telefon > attribute:phone (text); E-Mail > email; Geburtsdatum > dob (dates as DD.MM.YYYY); T-Shirt-Größe "
        "> attribute:shirt_size (single_choice); VIP > attribute:vip (boolean)",
        4, 3, 1, ['Geburtsdatum is "unbekannt"']),
    "excel-german-utf8.csv": (
        "Mitgliedsnr. > external_id; Vorname > first_name; Nachname > last_name; Straße > attribute:address.line1 "
        "(text); PLZ > attribute:address.postcode (text); Ort > attribute:address.city (text); Land > country; "
        "Telefon > attribute:phone (text); E-Mail > email; Geburtsdatum > dob (dates as DD.MM.YYYY); T-Shirt-Größe "
        "> attribute:shirt_size (single_choice); VIP > attribute:vip (boolean)",
        4, 3, 1, ['Geburtsdatum is "unbekannt"']),
    "excel-german-windows-1252.csv": (
        "Mitgliedsnr. > external_id; Vorname > first_name; Nachname > last_name; Straße > attribute:address.line1 "
        "(text); PLZ > attribute:address.postcode (text); Ort > attribute:address.city (text); Land > country; "
        "Telefon > attribute:phone (text); E-Mail > email; Geburtsdatum > dob (dates as DD.MM.YYYY); T-Shirt-Größe "
        "> attribute:shirt_size (single_choice); VIP > attribute:vip (boolean)",
        4, 3, 1, ['Geburtsdatum is "unbekannt"']),
    "excel-serial-dates.csv": (
        "Email > email; First name > first_name; Last name > last_name; Birthday > dob (dates as Excel's day "
        "numbers); Country > country",
        2, 2, 0, []),
    "excel-spanish-windows-1252.csv": (
        "Nº de socio > external_id; Nombre > first_name; Apellidos > last_name; Correo electrónico > email; "
        "Teléfono > attribute:phone (text); Dirección > attribute:address.line1 (text); Ciudad > "
        "attribute:address.city (text); Código postal > attribute:address.postcode (text); País > country; Fecha "
        "de nacimiento > dob (dates as DD/MM/YYYY)",
        2, 2, 0, []),
    "ghost.csv": (
        "id > external_id; email > email; name > display_name",
        2, 2, 0, []),
    "google-contacts-new.csv": (
        "First Name > first_name; Last Name > last_name; Nickname > display_name; Birthday > dob (dates as "
        "YYYY-MM-DD); E-mail 1 - Value > email; Phone 1 - Value > attribute:phone (text); Address 1 - Country > "
        "country; Address 1 - City > attribute:address.city (text)",
        3, 2, 1, ['Birthday is "--02-28"']),
    "google-contacts-old.csv": (
        "Name > display_name; Given Name > first_name; Family Name > last_name; Birthday > dob (dates as "
        "YYYY-MM-DD); Gender > attribute:gender (single_choice); E-mail 1 - Value > email; Phone 1 - Value > "
        "attribute:phone (text); Address 1 - City > attribute:address.city (text); Address 1 - Country > country",
        2, 2, 1, ['Address 1 - Country is "Sverige"']),
    "hubspot.csv": (
        "Record ID > external_id; First Name > first_name; Last Name > last_name; Email > email; Phone Number > "
        "attribute:phone (text); Date of birth > dob (dates as MM/DD/YYYY); Country/Region > country; City > "
        "attribute:address.city (text)",
        3, 2, 0, []),
    "hubspot.csv.gz": (
        "Record ID > external_id; First Name > first_name; Last Name > last_name; Email > email; Phone Number > "
        "attribute:phone (text); Date of birth > dob (dates as MM/DD/YYYY); Country/Region > country; City > "
        "attribute:address.city (text)",
        3, 2, 0, []),
    "italian.csv": (
        "Numero tessera > external_id; Nome > first_name; Cognome > last_name; Indirizzo e-mail > email; Cellulare "
        "> attribute:phone (text); Città > attribute:address.city (text); CAP > attribute:address.postcode (text); "
        "Paese > country; Data di nascita > dob (dates as DD/MM/YYYY)",
        1, 1, 0, []),
    "mailchimp.csv": (
        "Email Address > email; First Name > first_name; Last Name > last_name; Address > attribute:address.line1 "
        "(text); Phone Number > attribute:phone (text); Birthday > dob (dates as YYYY-MM-DD); CC > country; EUID > "
        "external_id",
        3, 3, 2, ['Birthday is "04/17"']),
    "mailerlite.csv": (
        "Subscriber > email; Name > first_name; Last name > last_name; Country > country; City > "
        "attribute:address.city (text); Phone > attribute:phone (text); Birthday > dob (dates as YYYY-MM-DD)",
        2, 2, 0, []),
    "mailjet.csv": (
        "email > email; firstname > first_name; lastname > last_name; country > country; birthdate > dob (dates as "
        "YYYY-MM-DD)",
        2, 2, 0, []),
    "no-header.csv": (
        "column 3 > email",
        2, 2, 0, []),
    "outlook.csv": (
        "First Name > first_name; Last Name > last_name; Home Street > attribute:address.line1 (text); Home City > "
        "attribute:address.city (text); Home Postal Code > attribute:address.postcode (text); Home Country/Region "
        "> country; Mobile Phone > attribute:phone (text); Birthday > dob (dates as MM/DD/YYYY); E-mail Address > "
        "email; Gender > attribute:gender (single_choice); Language > locale",
        4, 4, 5, ['Gender is "Unspecified"', 'Birthday is "12/10/1815"']),
    "portuguese.csv": (
        "Número de associado > external_id; Nome próprio > first_name; Apelido > last_name; Endereço de e-mail > "
        "email; Telemóvel > attribute:phone (text); Localidade > attribute:address.city (text); Código postal > "
        "attribute:address.postcode (text); País > country; Data de nascimento > dob (dates as DD/MM/YYYY)",
        1, 1, 0, []),
    "salesforce-report.csv": (
        "Contact ID > external_id; First Name > first_name; Last Name > last_name; Mailing Street > "
        "attribute:address.line1 (text); Mailing City > attribute:address.city (text); Mailing Zip/Postal Code > "
        "attribute:address.postcode (text); Mailing Country > country; Phone > attribute:phone (text); Email > "
        "email; Birthdate > dob (dates as MM/DD/YYYY)",
        6, 2, 0, []),
    "shopify-customers.csv": (
        "Customer ID > external_id; First Name > first_name; Last Name > last_name; Email > email; Default Address "
        "Address1 > attribute:address.line1 (text); Default Address City > attribute:address.city (text); Default "
        "Address Country Code > country; Default Address Zip > attribute:address.postcode (text); Phone > "
        "attribute:phone (text)",
        3, 2, 0, []),
    "squarespace-profiles.csv": (
        "Email Address > email; First Name > first_name; Last Name > last_name; Shipping City > "
        "attribute:address.city (text); Shipping Zip > attribute:address.postcode (text); Shipping Country > "
        "country",
        2, 2, 0, []),
    "stripe-customers.csv": (
        "id > external_id; Email > email; Name > display_name; Card Address Line1 > attribute:address.line1 "
        "(text); Card Address City > attribute:address.city (text); Card Address Country > country; Card Address "
        "Zip > attribute:address.postcode (text)",
        2, 2, 0, []),
    "wix-contacts.csv": (
        "First Name > first_name; Last Name > last_name; Email 1 > email; Phone 1 > attribute:phone (text); "
        "Address 1 - Street > attribute:address.line1 (text); Address 1 - City > attribute:address.city (text); "
        "Address 1 - Country > country; Birthdate > dob (dates as YYYY-MM-DD); Language > locale",
        2, 2, 0, []),
    "woocommerce-analytics.csv": (
        "Name > display_name; Email > email; Country / Region > country; City > attribute:address.city (text); "
        "Postal code > attribute:address.postcode (text)",
        2, 2, 0, []),
    "woocommerce-users.csv": (
        "customer_id > external_id; user_email > email; first_name > first_name; last_name > last_name; "
        "display_name > display_name; billing_phone > attribute:phone (text); billing_address_1 > "
        "attribute:address.line1 (text); billing_city > attribute:address.city (text); billing_postcode > "
        "attribute:address.postcode (text); billing_country > country; locale > locale",
        2, 2, 0, []),
}


def import_file(org, folder, path):
    """Imports a file without an option, and returns what EXPECTED has."""
    stack, key_file = org.stack, folder / f"{org.id}.key"
    key_file.write_text(org.key)
    command = [path, "--url", stack.base_url, "--key-file", key_file, "--ca-file", stack.ca_file, "--commit", "--json",
               "--errors", folder / f"{path.name}-errors"]
    done = stack.program("muster-import", *command, cwd=folder)
    assert done.returncode in (ALL_IN, SOME_NOT_IN), f"{path.name}\n{done.stderr}"
    counts = json.loads(done.stdout)
    columns = re.findall(r"^  (.+?) +-> (\S+)(?:  \((.*)\))?$", done.stderr, re.M)
    text = "; ".join(f"{name} > {target}{f' ({note})' if note else ''}" for name, target, note in columns)
    samples = re.findall(r'^  \d+ rows?: (.+? is ".*?"); ', done.stderr[done.stderr.find("left out, and"):], re.M)
    left_out = counts["values_left_out"]
    return text, counts["rows"], counts["created"] + counts["attached"], left_out, samples if left_out else []


@pytest.fixture(scope="module")
def imported(stack, contract, tmp_path_factory):
    """({the name of a file: what EXPECTED has}, all members). An organization has one import at a time, so several share
    the files."""
    folder = tmp_path_factory.mktemp("exports")
    files = sorted(EXPORTS.iterdir())
    shares = [files[start::ORGANIZATIONS] for start in range(ORGANIZATIONS)]

    def import_share(share):
        org = Organization(stack, contract)
        return {path.name: import_file(org, folder, path) for path in share}, org.members()

    results, members = {}, {}
    with ThreadPoolExecutor(ORGANIZATIONS) as pool:
        for share_results, share_members in pool.map(import_share, shares):
            results |= share_results
            members |= share_members
    return results, members


def test_the_columns_rows_and_values_of_each_export_are_known(imported):
    results, _ = imported
    for name, (columns, rows, imported, left_out, samples) in sorted(results.items()):
        print(f"{name}: {imported} of {rows} rows imported, {left_out} values left out {samples}\n    {columns}")
    assert results == EXPECTED
    assert len(results) >= 24


@pytest.mark.parametrize("address, first_name, last_name, country, dob", [
    ("juergen.weiss@verein.example", "Jürgen", "Weiß", "AT", "1960-02-01"),
    ("zoe.lefevre@asso.example", "Zoé", "Lefèvre", "FR", "1985-12-25"),
    ("begona.nunez@club.example", "Begoña", "Núñez Peña", "ES", "1984-02-29"),
    ("grace.miller@pier.example", "Grace", "Miller", "US", "1985-03-07"),
    ("ida.berg@fjord.example", "Ida", "Berg", None, "1992-06-30"),
    ("paul.weber@fjord.example", "Paul", "Weber", "DE", "1979-11-05"),
    ("hugh.price@abbey.example", "Hugh", "Price", "GB", None),
    ("sue.day@serial.example", "Sue", "Day", "GB", "1985-03-07"),
])
def test_values_of_every_encoding_and_format_are_converted(imported, address, first_name, last_name, country, dob):
    member = imported[1][address]
    assert (member["first_name"], member["last_name"], member["country"], member["dob"]) == (
        first_name, last_name, country, dob)
