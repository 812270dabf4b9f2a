"""The rules of specification 2.1 as tables, for staging and for POST /v1/users.

GOOD: (payload, without its address if the case is not about it; the stored values).
BAD: (payload, {path: field code}).
"""

import datetime

# The date of the collection of the tests: a run may pass midnight.
TODAY = datetime.datetime.now(datetime.timezone.utc).date()


def day(offset):
    return (TODAY + datetime.timedelta(days=offset)).isoformat()


COUNTRIES = """AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY
BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA
GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG
KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD
SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA
VC VE VG VI VN VU WF WS YE YT ZA ZM ZW""".split()
assert len(COUNTRIES) == 249

# {n} becomes a number that makes the address unique.
GOOD_EMAILS = [
    ("plain{n}@example.com", "plain{n}@example.com"),
    ("  Trim.Me{n}@Example.COM\t", "trim.me{n}@example.com"),
    ("plus+tag{n}@sub.example.co.uk", "plus+tag{n}@sub.example.co.uk"),
    ("!#$%&'*+-/=?^_`{{|}}~{n}@example.com", "!#$%&'*+-/=?^_`{{|}}~{n}@example.com"),
    ('"a..b{n}"@example.com', '"a..b{n}"@example.com'),
    ('"at@{n}"@example.com', None),
    ("o'neill{n}@example.com", "o'neill{n}@example.com"),
    ("käthe{n}@example.com", "käthe{n}@example.com"),
    ("KA\u0308TE{n}@Example.com", "käte{n}@example.com"),
    ("\ufeff\u00a0nbsp{n}@example.com\u200b\u00a0", "nbsp{n}@example.com"),
    ("x{n}@xn--bcher-kva.example", "x{n}@xn--bcher-kva.example"),
    ("x{n}@1.2.example", "x{n}@1.2.example"),
    ("{n}@a.b", "{n}@a.b"),
    ("l{n:0>63}@example.com", "l{n:0>63}@example.com"),  # 64 characters before the @
]

BAD_EMAILS = [
    "nomail", "@example.com", "x@", "x@localhost", "x@@example.com", "x@y@example.com", "a b@example.com",
    ".x@example.com", "x.@example.com", "x..y@example.com", "x@.example.com", "x@example.com.", "x@example..com",
    "x@-example.com", "x@example-.com", "x@exa_mple.com", "x@bücher.example", "x@[127.0.0.1]", '"x@example.com',
    "a,b@example.com", "a(b)@example.com", "a\\b@example.com", "<x@example.com>", "mailto:x@example.com;",
    "l" * 65 + "@example.com", "x@" + "a" * 64 + ".com", "x\u200b@example.com", "x\u00a0@example.com",
]

GOOD = [
    ({"external_id": "x" * 255}, {"external_id": "x" * 255}),
    ({"first_name": "ü" * 255}, {"first_name": "ü" * 255}),
    ({"last_name": "😀" * 255}, {"last_name": "😀" * 255}),
    ({"display_name": "  Ann \u00a0 Lee "}, {"display_name": "Ann \u00a0 Lee"}),
    ({"locale": "any text, not a list"}, {"locale": "any text, not a list"}),
    ({"locale": "x" * 35}, {"locale": "x" * 35}),
    ({"country": "gb"}, {"country": "GB"}),
    ({"country": " De "}, {"country": "DE"}),
    ({"dob": "1900-01-01"}, {"dob": "1900-01-01"}),
    ({"dob": "2000-02-29"}, {"dob": "2000-02-29"}),
    ({"dob": day(-1)}, {"dob": day(-1)}),
    ({"first_name": "", "last_name": "   ", "country": "", "dob": "", "locale": " "}, {}),
    ({"first_name": None, "external_id": None, "country": None, "dob": None, "attributes": None}, {}),
    ({"first_name": "'; DROP TABLE members; -- \\"}, {"first_name": "'; DROP TABLE members; -- \\"}),
    ({"first_name": "%s %d {0} ${x} <b>&amp;</b>"}, {"first_name": "%s %d {0} ${x} <b>&amp;</b>"}),
    ({"first_name": '"quoted" \\ and /'}, {"first_name": '"quoted" \\ and /'}),
    ({"external_id": "NULL"}, {"external_id": "NULL"}),
    ({"attributes": {}}, {}),
    *[({name: " a \r\n\x01 b\n"}, {name: "a b"}) for name in ("external_id", "first_name", "last_name", "display_name", "locale")],
]

TEXT_LIMITS = {"external_id": 255, "first_name": 255, "last_name": 255, "display_name": 255, "locale": 35}

BAD = [
    ({"email": None}, {"email": "required"}),
    ({"email": ""}, {"email": "required"}),
    ({"email": "  "}, {"email": "required"}),
    ({"email": 5}, {"email": "wrong_type"}),
    ({"email": ["x@example.com"]}, {"email": "wrong_type"}),
    ({"email": "x" * 243 + "@example.com"}, {"email": "too_long"}),
    ({"email": "x\u0000@example.com"}, {"email": "invalid_value"}),
    ({"email": "x@example.com\r\nBcc: y@example.com"}, {"email": "invalid_value"}),
    *[({"email": address}, {"email": "invalid_email"}) for address in BAD_EMAILS],
    *[({name: "x" * (most + 1)}, {name: "too_long"}) for name, most in TEXT_LIMITS.items()],
    *[({name: "ü" * (most + 1)}, {name: "too_long"}) for name, most in TEXT_LIMITS.items()],
    *[({name: value}, {name: "wrong_type"}) for name in [*TEXT_LIMITS, "country", "dob"] for value in (1, True, [], {})],
    *[({"country": code}, {"country": "invalid_country"})
      for code in ("UK", "EU", "XK", "ZZ", "XX", "D", "DEU", "49", "Germany", "ÄÖ")],
    *[({"dob": text}, {"dob": "invalid_date"})
      for text in ("1899-12-31", day(1), day(2), "2999-01-01", "1900-02-29", "2001-02-29", "2001-04-31", "2001-13-01",
                   "2001-00-10", "2001-01-00", "2001-1-1", "01-01-2001", "2001/01/01", "20010101", "2001-01-01T00:00:00Z",
                   "+2001-01-01", "٢٠٠١-٠١-٠١", "yesterday")],
    ({"attributes": []}, {"attributes": "wrong_type"}),
    ({"attributes": "x"}, {"attributes": "wrong_type"}),
    ({"attributes": {"phone": {"home": "1"}}}, {"attributes.phone": "wrong_type"}),
    ({"attributes": {"phone": [["1"]]}}, {"attributes.phone": "wrong_type"}),
    ({"attributes": {"phone": [None]}}, {"attributes.phone": "wrong_type"}),
    ({"attributes": {"phone": "x" * 4095}}, {"attributes.phone": "too_long"}),
    ({"attributes": {f"key_{n}": "x" for n in range(101)}}, {"attributes": "too_long"}),
    ({"attributes": {"k" * 65: "x"}}, {"attributes." + "k" * 64: "too_long"}),
    ({"nickname": "x"}, {"nickname": "unknown_field"}),
    ({"Email": "x@example.com"}, {"Email": "unknown_field"}),
    ({"id": "x", "roles": ["owner"], "organization_id": "x"},
     {"id": "unknown_field", "roles": "unknown_field", "organization_id": "unknown_field"}),
    ({"email": "x", "dob": "x", "country": "x", "locale": 1, "more": 1},
     {"email": "invalid_email", "dob": "invalid_date", "country": "invalid_country", "locale": "wrong_type",
      "more": "unknown_field"}),
]

# (attribute, value, whether the registry of support.world accepts it)
ATTRIBUTE_VALUES = [
    ("phone", "+44 7700 900100", True), ("phone", 5, False), ("phone", True, False), ("phone", ["x"], False),
    ("phone", "😀 \"quoted\" \\ back / slash \u2028 'single'", True),
    ("phone", "line\nbreak\ttab \u0001 \u007f", True),
    ("gender", "non_binary", True), ("gender", "Non_binary", False),
    ("gender", ["female"], False),
    ("shirt_size", "XL", True), ("shirt_size", "xl", False), ("shirt_size", "XS,S", False), ("shirt_size", 5, False),
    ("points", 0, True), ("points", -12.5, True), ("points", 1e300, True), ("points", 2**63, True),
    ("points", -(2**63), True), ("points", "5", False), ("points", False, False), ("points", [5], False),
    ("joined", "2024-02-29", True), ("joined", "1066-10-14", True), ("joined", "2999-01-01", True),
    ("joined", "2023-02-29", False), ("joined", "29.02.2024", False), ("joined", "2024-02-29T00:00:00Z", False),
    ("joined", 20240229, False),
    ("vip", True, True), ("vip", False, True), ("vip", "true", False), ("vip", 1, False),
    ("interests", ["news"], True), ("interests", ["offers", "news", "events"], True), ("interests", [], True),
    ("interests", "news", False), ("interests", ["news", "sport"], False), ("interests", ["news", "news"], False),
    ("interests", [1], False),
]
UNKNOWN_ATTRIBUTES = ["emergency_contact", "no_such", "Phone", "phone ", "address", "__proto__", "ключ"]
