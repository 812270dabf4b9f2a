// client/importer.hpp: what the importer makes of files: columns, formats, faults and the report.
#include "unit/client/import_environment.hpp"

#include "print.hpp"

using namespace muster;
using namespace muster::client;
using namespace muster::test;

BOOST_AUTO_TEST_SUITE(client_import_files)

BOOST_AUTO_TEST_CASE(ignored_columns_are_listed_on_one_line) {
    Environment environment;
    environment.scratch.write("members.csv",
                              "Email,TAGS,Lucky\x1b Number\xE2\x80\xAE\na@example.org,x,7\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.says("\n  2 columns are ignored: TAGS, Lucky Number\\xe2\\x80\\xae\n"));
    BOOST_TEST(!environment.says("-> ignored"));
}

BOOST_AUTO_TEST_CASE(every_row_with_a_fault_is_in_one_report_and_the_counts_add_up) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader +
                                                 "good@example.org,Ann,1990-01-01,M\n"
                                                 "broken,Bad,04/17,\n"
                                                 "\n"
                                                 "good@example.org,Twice,,\n"
                                                 ",,,\n"
                                                 "size@example.org,\"=cmd\",04/17,XXS\n"
                                                 "day@example.org,,1990-02-30,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--json"}), ExitCode::SomeNotIn));
    BOOST_TEST(
        environment.scratch.read("members-errors.csv") ==
        kReportHeader +
            "broken,Bad,04/17,,2,3,rejected,LOCAL_INVALID_EMAIL LOCAL_INVALID_DATE,\"Email is "
            "\"\"broken\"\"; use an address such as ann@example.org. Birthday is \"\"04/17\"\"; a "
            "date needs a year\"\r\n" +
            "good@example.org,Twice,,,3,5,rejected,ROW_DUPLICATE_IN_FILE,\"same address as line 2; "
            "remove one of the two rows\"\r\n" +
            "size@example.org,'=cmd,04/17,XXS,4,7,value left out,LOCAL_INVALID_DATE "
            "LOCAL_INVALID_CHOICE,\"Birthday is \"\"04/17\"\"; a date needs a year. Shirt Size is "
            "\"\"XXS\"\"; allowed are S, M, L\"\r\n" +
            "day@example.org,,1990-02-30,,5,8,value left out,LOCAL_INVALID_DATE,\"Birthday is "
            "\"\"1990-02-30\"\"; use an existing date from 1900-01-01 to yesterday\"\r\n");
    BOOST_TEST(environment.says("1 of 5 rows is rejected and written to "));
    BOOST_TEST(environment.says("3 values are left out, and written to "));
    BOOST_TEST(
        environment.says("\n  1 row: Birthday is \"04/17\"; a date needs a year (line 7)\n"));
    BOOST_TEST(environment.says(
        "\n  1 row: Email is \"broken\"; use an address such as ann@example.org (line 3)\n"));
    BOOST_TEST(
        environment.says("\n  1 row: same address as line 2; remove one of the two rows "
                         "(line 5)\n"));
    BOOST_TEST(
        environment.says("2 of 5 rows were not imported; 3 values were left out; the "
                         "reasons are in "));
    const Json::Value summary = environment.json();
    BOOST_TEST(summary["rows"].asInt() == 5);
    BOOST_TEST(summary["refused"].asInt() == 1);
    BOOST_TEST(summary["values_left_out"].asInt() == 3);
    BOOST_TEST(summary["rows_left_out"].asInt() == 2);
    BOOST_TEST(summary["staged"].asInt() == 4);
    BOOST_TEST(summary["invalid"].asInt() == 1);
    BOOST_TEST(summary["valid"].asInt() == 3);
    BOOST_TEST(summary["created"].asInt() == 3);
    BOOST_TEST(summary["exit_code"].asInt() == 2);
    BOOST_TEST(summary["state"].asString() == "completed");
    BOOST_TEST(summary["error"].isNull());
    BOOST_TEST(summary["errors_file"].asString() == environment.scratch.file("members-errors.csv"));
}

BOOST_AUTO_TEST_CASE(rows_with_bad_values_are_rejected_on_request) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader + "a@example.org,,04/17,\nb@example.org,,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--reject-bad-values"}),
                   ExitCode::SomeNotIn));
    BOOST_TEST(environment.api.rows.size() == 1U);
    BOOST_TEST(environment.counts("not imported", "1"));
    BOOST_TEST(
        environment.scratch.read("members-errors.csv").find(",rejected,LOCAL_INVALID_DATE,") !=
        std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_run_that_only_left_out_values_imported_all_rows) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader + "a@example.org,Ann,04/17,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--quiet"}), ExitCode::AllIn));
    BOOST_TEST(environment.all() == "muster-import: 1 value was left out; the reasons are in " +
                                        environment.scratch.file("members-errors.csv") + "\n");
    BOOST_TEST(json_text(environment.api.rows.at(1)) ==
               R"({"email":"a@example.org","first_name":"Ann"})");
}

BOOST_AUTO_TEST_CASE(formats_are_guessed_from_all_rows_and_shown) {
    Environment environment;
    std::string rows = kHeader;
    for (int i = 0; i < 1100; ++i)
        rows += "m" + std::to_string(i) + "@example.org,Ann,03/07/1985,m\n";
    environment.scratch.write("members.csv", rows + "z@example.org,Ann,12/31/1999,XL\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.says("Birthday    -> dob  (dates as MM/DD/YYYY)"));
    BOOST_TEST(environment.api.rows.at(1)["dob"].asString() == "1985-03-07");
    BOOST_TEST(environment.api.rows.at(1)["attributes"]["shirt_size"].asString() == "M");
    BOOST_TEST(environment.api.rows.at(1101)["dob"].asString() == "1999-12-31");
    BOOST_TEST(environment.says("1 value is left out"));
}

BOOST_AUTO_TEST_CASE(a_second_reading_with_other_formats_leaves_no_empty_report) {
    Environment environment;
    std::string rows = kHeader + "x@example.org,Ann,31113,\n";
    for (int i = 0; i < 1100; ++i) rows += "m" + std::to_string(i) + "@example.org,Ann,,\n";
    rows += "y@example.org,Ann,31.12.1999,\nz@example.org,Ann,1985,\n";
    environment.scratch.write("members.csv", rows);
    BOOST_CHECK(is(environment.run("members.csv", {"--dry-run"}), ExitCode::AllIn));
    BOOST_TEST(environment.says("dates as DD.MM.YYYY"));
    BOOST_TEST(environment.says("2 values are left out"));
    environment.scratch.write("members.csv", kHeader + "z@example.org,Ann,,\n");
    environment.api.state = "";
    BOOST_CHECK(is(environment.run("members.csv", {"--dry-run"}), ExitCode::AllIn));
    BOOST_TEST(!environment.scratch.exists("members-errors.csv"));
}

BOOST_AUTO_TEST_CASE(an_ambiguous_date_is_asked_or_an_error_that_names_the_option) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader + "a@example.org,,03/07/1985,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Usage));
    BOOST_TEST(environment.says("--date-format DD/MM/YYYY or --date-format MM/DD/YYYY"));
    BOOST_TEST(environment.says("and no value shows whether"));
    BOOST_TEST(environment.api.state == "");
    std::vector<std::string> questions;
    environment.ask = [&](const std::string& text) {
        questions.push_back(text);
        return questions.size() >= 2;
    };
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::AllIn));
    BOOST_REQUIRE(questions.size() == 3);
    BOOST_TEST(questions[0] ==
               "Birthday has dates such as \"03/07/1985\". Is that 1985-07-03, as DD/MM/YYYY?");
    BOOST_TEST(questions[1] ==
               "Birthday has dates such as \"03/07/1985\". Is that 1985-03-07, as MM/DD/YYYY?");
    BOOST_TEST(environment.api.rows.at(1)["dob"].asString() == "1985-03-07");
}

BOOST_AUTO_TEST_CASE(a_column_with_both_orders_of_dates_is_an_error_that_names_two_cells) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader + "a@example.org,,03/07/1985,\n" +
                                                 "b@example.org,,12/31/1999,\n" +
                                                 "c@example.org,,31/12/1999,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Usage));
    BOOST_TEST(environment.says(
        "Birthday has dates such as \"03/07/1985\", but \"31/12/1999\" has the day first, and "
        "\"12/31/1999\" the month; add --date-format DD/MM/YYYY or --date-format MM/DD/YYYY"));
    BOOST_TEST(!environment.says("no value shows"));
    BOOST_TEST(!environment.scratch.exists("members-errors.csv"));
}

BOOST_AUTO_TEST_CASE(an_unknown_order_of_dates_leaves_no_report) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader + "a@example.org,,03/07/1985,\nbroken,,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Usage));
    BOOST_TEST(!environment.scratch.exists("members-errors.csv"));
}

BOOST_AUTO_TEST_CASE(the_report_has_the_separator_and_columns_of_the_file_and_comes_back) {
    Environment environment;
    environment.scratch.write("members.csv",
                              "E-Mail;Vorname;Geburtsdatum;T-Shirt-Gr\xF6\xDF"
                              "e;Notiz\r\n"
                              "kaputt;J\xFCrgen;31.12.1999;m;\"a;b\"\r\n"
                              "ok@example.org;Ann;01.02.1990;M;\r\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.says("(separator \";\", windows-1252)"));
    std::string report = environment.scratch.read("members-errors.csv");
    BOOST_TEST(report ==
               "\xEF\xBB\xBF"
               "E-Mail;Vorname;Geburtsdatum;T-Shirt-Größe;Notiz;row_number;line;result;error_code;"
               "error_message\r\n"
               "kaputt;Jürgen;31.12.1999;m;\"a;b\";1;2;rejected;LOCAL_INVALID_EMAIL;\"E-Mail is "
               "\"\"kaputt\"\"; use an address such as ann@example.org\"\r\n");
    environment.api.state.clear();
    environment.api.rows.clear();
    BOOST_CHECK(is(environment.run("members-errors.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.scratch.read("members-errors-2.csv") == report);
    report.replace(report.find("kaputt"), 6, "b@example.org");
    environment.scratch.write("members-errors.csv", report);
    environment.api.state.clear();
    BOOST_CHECK(is(environment.run("members-errors.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.api.rows.at(1)["dob"].asString() == "1999-12-31");
    BOOST_TEST(environment.api.rows.at(1)["first_name"].asString() == "Jürgen");
    BOOST_TEST(!environment.scratch.exists("members-errors-2.csv"));
}

BOOST_AUTO_TEST_CASE(rows_that_only_the_server_rejects_are_set_aside_and_the_rest_is_sent_again) {
    Environment environment;
    environment.api.faulty_emails = {"m2@example.org", "m5@example.org"};
    environment.scratch.write("members.csv", many_rows(7));
    BOOST_CHECK(
        is(environment.run("members.csv", {"--commit", "--chunk", "3"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.api.rows.size() == 5U);
    BOOST_TEST(!environment.api.rows.contains(2));
    BOOST_TEST(environment.api.rows.contains(7));
    const std::string report = environment.scratch.read("members-errors.csv");
    BOOST_TEST(
        report.find("m2@example.org,Ann,1990-01-01,M,2,3,rejected,invalid_email,email is not "
                    "an email address\r\n") != std::string::npos);
    BOOST_TEST(report.find(",5,6,rejected,invalid_email,") != std::string::npos);
    BOOST_TEST(environment.counts("not imported", "2"));
    BOOST_TEST(environment.says("The server rejected 2 rows, which are written to " +
                                environment.scratch.file("members-errors.csv") +
                                ":\n  2 rows: email is not an email address (first in line 3)\n"));
}

BOOST_AUTO_TEST_CASE(a_first_line_with_an_address_is_a_row) {
    Environment environment;
    environment.scratch.write("members.csv", "Ann,ann@example.org\nBob,bob@example.org\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--map", "column 1=first_name"}),
                   ExitCode::AllIn));
    BOOST_TEST(environment.says("has no line of column names, so its first line is a row"));
    BOOST_TEST(environment.says("column 2  -> email"));
    BOOST_TEST(json_text(environment.api.rows.at(1)) ==
               R"({"email":"ann@example.org","first_name":"Ann"})");
    BOOST_TEST(environment.api.rows.size() == 2U);
}

BOOST_AUTO_TEST_CASE(no_header_makes_the_first_line_a_row) {
    Environment environment;
    environment.scratch.write("members.csv", "Ann,broken\nBob,bob@example.org\n");
    BOOST_CHECK(
        is(environment.run("members.csv", {"--commit", "--no-header"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.api.rows.size() == 1U);
    std::string report = environment.scratch.read("members-errors.csv");
    BOOST_REQUIRE(report.find("Ann,broken,1,1,rejected,") != std::string::npos);
    report.replace(report.find("broken"), 6, "ann@example.org");
    environment.scratch.write("members-errors.csv", report);
    environment.api.state = "";
    environment.api.rows.clear();
    BOOST_CHECK(is(environment.run("members-errors.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.api.rows.at(1)["email"].asString() == "ann@example.org");
}

BOOST_AUTO_TEST_CASE(too_many_columns_touch_no_job) {
    Environment environment;
    std::string header = "Email";
    for (int column = 1; column <= 500; ++column) header += ",c" + std::to_string(column);
    environment.scratch.write("members.csv", header + "\nann@example.org\n");
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Usage));
    BOOST_TEST(environment.says("has 501 columns; a file may have 500"));
    BOOST_TEST(environment.api.state == "");
}

BOOST_AUTO_TEST_CASE(an_interrupted_download_of_the_report_is_repeated) {
    Environment environment;
    environment.scratch.write("members.csv",
                              kHeader + "a@example.org,,,\na@example.org,,,\nx,,,\n");
    int downloads = 0;
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!request.path.ends_with("/error-report") || ++downloads > 1) return std::nullopt;
        return ServedResponse{
            .body = kServerHeader + std::string(500, 'y'), .headers = {}, .cut_body_after = 300};
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(
        environment.scratch.read("members-errors.csv") ==
        kReportHeader +
            "a@example.org,,,,2,3,rejected,ROW_DUPLICATE_IN_FILE,\"same address as line 2; "
            "remove one of the two rows\"\r\n"
            "x,,,,3,4,rejected,LOCAL_INVALID_EMAIL,\"Email is \"\"x\"\"; use an address such "
            "as ann@example.org\"\r\n");
}

BOOST_AUTO_TEST_CASE(all_pages_of_a_report_are_downloaded_and_a_broken_one_is_repeated) {
    Environment environment;
    environment.api.report_rows = 2;
    std::string file = kHeader;
    for (int row = 0; row < 6; ++row) file += "a@example.org,,,\n";
    environment.scratch.write("members.csv", file);
    int second_pages = 0;
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!request.path.ends_with("/error-report?after=3") || ++second_pages > 1) {
            return std::nullopt;
        }
        return ServedResponse{
            .body = kServerHeader + std::string(500, 'y'), .headers = {}, .cut_body_after = 300};
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(second_pages == 2);
    const std::string report = environment.scratch.read("members-errors.csv");
    for (int row = 2; row <= 6; ++row) {
        const std::string text = std::to_string(row);
        BOOST_TEST(report.find("," + text + "," + std::to_string(row + 1) + ",rejected,") !=
                   std::string::npos);
    }
    BOOST_TEST(std::count(report.begin(), report.end(), '\n') == 6);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_imported_create_no_job) {
    Environment environment;
    environment.scratch.write("empty.csv", "");
    environment.scratch.write("header.csv", kHeader);
    environment.scratch.write("quote.csv", kHeader + "a@example.org,\"open,,\n");
    environment.scratch.write("book.xlsx", std::string("PK\x03\x04\x14\0[Content_Types].xml", 25));
    environment.scratch.write("nomail.csv", "Name,Phone\nAnn,1\n");
    for (const char* file :
         {"missing.csv", ".", "empty.csv", "header.csv", "quote.csv", "book.xlsx", "nomail.csv"}) {
        BOOST_TEST_CONTEXT(file) {
            BOOST_CHECK(is(environment.run(file, {"--commit"}), ExitCode::Usage));
        }
    }
    environment.scratch.write("allbad.csv", kHeader + "broken,,,\n");
    BOOST_CHECK(is(environment.run("allbad.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.api.state == "");
}

BOOST_AUTO_TEST_CASE(a_report_can_be_corrected_and_imported) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader + "a@example.org,Ann,,M\nbroken,Bea,,S\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    std::string report = environment.scratch.read("members-errors.csv");
    report.replace(report.find("broken"), 6, "b@example.org");
    environment.scratch.write("corrected.csv", report);
    environment.api.state.clear();
    environment.api.rows.clear();
    BOOST_CHECK(is(environment.run("corrected.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(json_text(environment.api.rows.at(1)) ==
               R"({"attributes":{"shirt_size":"S"},"email":"b@example.org","first_name":"Bea"})");
}

BOOST_AUTO_TEST_CASE(a_number_of_a_file_with_semicolons_may_have_points_between_thousands) {
    Environment environment;
    environment.scratch.write("members.csv", "Email;Fee\na@example.org;1.234\nb@example.org;7\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(
        environment.says("Fee is \"1.234\"; the point may separate thousands: use --format "
                         "'Fee=decimal-comma' or decimal-point"));
    BOOST_TEST(environment.api.rows.at(1)["attributes"].isNull());
    BOOST_TEST(environment.api.rows.at(2)["attributes"]["fee"].asInt() == 7);
}

BOOST_AUTO_TEST_CASE(a_row_with_too_many_cells_comes_back_with_all_of_them_and_is_rejected_again) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader +
                                                 "a@example.org,Ann,1990-01-01,M,,more,\n"
                                                 "b@example.org,Bea,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    const std::string report = environment.scratch.read("members-errors.csv");
    BOOST_TEST(report.find("a@example.org,Ann,1990-01-01,M,1,2,rejected,LOCAL_TOO_MANY_CELLS,") !=
               std::string::npos);
    BOOST_TEST(report.ends_with(",,more\r\n"));
    environment.api.state.clear();
    environment.api.rows.clear();
    BOOST_CHECK(is(environment.run("members-errors.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.api.rows.empty());
    BOOST_TEST(environment.scratch.read("members-errors-2.csv") == report);
}

BOOST_AUTO_TEST_CASE(an_unnamed_first_column_does_not_hide_a_named_address) {
    Environment environment;
    environment.scratch.write("members.csv",
                              ",Email,Contact\n1,a@example.org,x@example.org\n"
                              "2,,y@example.org\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.says("Email  -> email"));
    BOOST_TEST(environment.api.rows.at(1)["email"].asString() == "a@example.org");
}

BOOST_AUTO_TEST_CASE(a_report_is_read_with_the_encoding_option_of_its_file) {
    Environment environment;
    environment.scratch.write("members.csv", "Email,First Name\nbroken,J\xFCrgen\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--encoding", "windows-1252"}),
                   ExitCode::SomeNotIn));
    std::string report = environment.scratch.read("members-errors.csv");
    report.replace(report.find("broken"), 6, "a@example.org");
    environment.scratch.write("members-errors.csv", report);
    BOOST_CHECK(
        is(environment.run("members-errors.csv", {"--commit", "--encoding", "windows-1252"}),
           ExitCode::AllIn));
    BOOST_TEST(environment.api.rows.at(1)["first_name"].asString() == "Jürgen");
}

BOOST_AUTO_TEST_CASE(the_header_of_a_report_is_a_header_with_no_header) {
    Environment environment;
    environment.scratch.write("members.csv", "Ann,broken\nBob,bob@example.org\n");
    BOOST_CHECK(
        is(environment.run("members.csv", {"--commit", "--no-header"}), ExitCode::SomeNotIn));
    environment.api.state = "";
    environment.api.rows.clear();
    std::string report = environment.scratch.read("members-errors.csv");
    report.replace(report.find("broken"), 6, "ann@example.org");
    environment.scratch.write("members-errors.csv", report);
    BOOST_CHECK(
        is(environment.run("members-errors.csv", {"--commit", "--no-header"}), ExitCode::AllIn));
    BOOST_TEST(environment.api.rows.size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_answer_about_dates_is_kept_for_the_columns_that_it_decides) {
    Environment environment;
    environment.scratch.write("members.csv",
                              "Email,Birthday,Joined\na@example.org,03/07/1985,2020-01-02\n");
    int questions = 0;
    environment.ask = [&](const std::string&) { return ++questions != 2; };
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_TEST(environment.says(" --format Birthday=DD/MM/YYYY "));
    BOOST_TEST(!environment.says("--date-format"));
}

BOOST_AUTO_TEST_CASE(the_profile_ignores_several_columns) {
    Environment environment;
    environment.defaults.maps = {{"First Name", "ignored"}, {"Last Name", "ignored"}};
    environment.scratch.write("members.csv", "Email,First Name,Last Name\na@example.org,Ann,Ash\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(json_text(environment.api.rows.at(1)) == R"({"email":"a@example.org"})");
}

BOOST_AUTO_TEST_CASE(the_profile_maps_columns_that_the_file_has) {
    Environment environment;
    environment.defaults.maps = {
        {"Kontakt", "email"}, {"Rufname", "first_name"}, {"Other", "ignored"}};
    environment.scratch.write("members.csv", "kontakt,Vorname\na@example.org,Ann\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.says("kontakt  -> email"));
}

BOOST_AUTO_TEST_SUITE_END()
