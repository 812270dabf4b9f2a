// base/settings.hpp: the file, the environment that overrides it, and errors that name the
// location.
#include "base/settings.hpp"

#include "unit/base/settings_files.hpp"

#include "print.hpp"

#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using muster::load_settings;
using muster::Settings;
using muster::SettingsError;
using muster::test::Variable;

BOOST_FIXTURE_TEST_SUITE(settings, muster::test::SettingsFiles)

// ---------------------------------------------------------------------------- valid files

BOOST_AUTO_TEST_CASE(an_empty_file_gives_the_defaults) {
    const Settings read = load("");
    BOOST_TEST(read.database.url == "unix:/run/mysqld/mysqld.sock");
    BOOST_TEST(read.database.name == "muster");
    BOOST_TEST(read.database.password.empty());
    BOOST_TEST(read.database.connect_timeout == 5);
    BOOST_TEST(read.server.workers == 8);
    BOOST_TEST(read.server.socket_mode == "0660");
    BOOST_TEST(read.jobs.lease == 20);
    BOOST_TEST(read.limits.key_rate == 100);
    BOOST_TEST(read.limits.key_burst == 200);
    BOOST_TEST(read.limits.otp_requests == 10);
    BOOST_TEST(read.jobs.audit_days == 400);
    BOOST_TEST(read.jobs.engagement_days == 0);
    BOOST_TEST(read.mail.url == "smtp://localhost:25");
    BOOST_TEST(read.mail.from == "muster@localhost");
    BOOST_TEST(read.mail.tls == "try");
    BOOST_TEST(read.mail.password.empty());
    BOOST_TEST(read.log.level == "info");
    BOOST_TEST(read.security.key.reveal() == kKeyBytes);
}

BOOST_AUTO_TEST_CASE(space_and_comments_around_keys_are_ignored) {
    const Settings read = load(
        "# a comment\n; another\n\n  [database]  \r\n\tname=one two \nurl = tcp://db1:3306,tcp://db2 \n"
        "user =\n[server]\nworkers =  3\n");
    BOOST_TEST(read.database.name == "one two");
    BOOST_TEST(read.database.url == "tcp://db1:3306,tcp://db2");
    BOOST_TEST(read.database.user == "");
    BOOST_TEST(read.server.workers == 3);
}

BOOST_AUTO_TEST_CASE(a_value_may_hold_an_equals_sign_and_a_hash) {
    const Settings read = load("[database]\npassword = a=b#c;d\n");
    BOOST_TEST(read.database.password.reveal() == "a=b#c;d");
}

BOOST_AUTO_TEST_CASE(a_section_may_be_repeated) {
    const Settings read =
        load("[server]\nworkers = 2\n[log]\nlevel = debug\n[server]\nstale_after = 5\n");
    BOOST_TEST(read.server.workers == 2);
    BOOST_TEST(read.server.stale_after == 5);
    BOOST_TEST(read.log.level == "debug");
}

// ---------------------------------------------------------------------------- errors

BOOST_AUTO_TEST_CASE(a_mistake_is_rejected_with_its_line) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"[databases]\n", "muster.conf:1: unknown section [databases]; did you mean [database]?"},
        {"\n[]\n",
         "muster.conf:2: unknown section; use [database], [server], [limits], [jobs], [mail], "
         "[webhooks], [console], [security], [log], [files] or [providers.<id>]"},
        {"[server]\nworker = 1\n",
         "muster.conf:2: unknown key worker in [server]; did you mean workers?"},
        {"[log]\nname = x\n", "muster.conf:2: unknown key in [log]; use level"},
        {"[providers.slak]\nclient_id = x\n",
         "muster.conf:1: unknown section [providers.slak]; did you mean [providers.slack]?"},
        {"workers = 1\n",
         "muster.conf:1: workers is before the first [section]; move it into its section"},
        {"[server]\nworkers\n", "muster.conf:2: neither [section] nor key = value"},
        {"[server\n", "muster.conf:1: neither [section] nor key = value"},
        {"[server]\nworkers = 1\nworkers = 1\n",
         "muster.conf:3: server.workers is given twice; line 2 has it too"},
        {"[server]\nworkers = 0\n",
         "muster.conf:2: server.workers is \"0\"; use a number from 1 to 256"},
        {"[server]\nworkers = 257\n",
         "muster.conf:2: server.workers is \"257\"; use a number from 1 to 256"},
        {"[server]\nworkers = 2x\n",
         "muster.conf:2: server.workers is \"2x\"; use a number from 1 to 256"},
        {"[server]\nworkers =\n",
         "muster.conf:2: server.workers is \"\"; use a number from 1 to 256"},
        {"[server]\nworkers = 99999999999\n",
         "muster.conf:2: server.workers is \"99999999999\"; use a number from 1 to 256"},
        {"[Server]\n", "muster.conf:1: unknown section [Server]; did you mean [server]?"},
        {"[server]\nWorkers = 1\n",
         "muster.conf:2: unknown key Workers in [server]; did you mean workers?"},
        {"[log]\nlevel = " + std::string(100'000, 'x') + "\n",
         "muster.conf:2: log.level is \"" + std::string(200, 'x') +
             "...\" (100000 bytes); use debug, info, warning or error"},
        {"[database]\nname = a\xe2\x80\x8b"
         "b\n",
         "muster.conf:2: database.name is \"a\\xe2\\x80\\x8b"
         "b\"; use UTF-8 without control "
         "characters and invisible ones"},
    };
    for (const auto& [text, reason] : table) BOOST_TEST(refusal(text) == reason);
}

BOOST_AUTO_TEST_CASE(an_invalid_choice_is_rejected_with_the_valid_ones) {
    const auto check = [&](const std::string& section, const std::string& key,
                           const std::vector<std::string>& invalid, const std::string& allowed) {
        for (const std::string& value : invalid) {
            const std::string text = "\n[" + section + "]\n" + key + " = " + value + "\n";
            BOOST_TEST(refusal(text) == "muster.conf:3: " + section + "." + key + " is \"" + value +
                                            "\"; use " + allowed);
        }
    };
    check("log", "level", {"loud", "", "INFO"}, "debug, info, warning or error");
    check("webhooks", "loopback", {"true", "", "Yes"}, "no or yes");
    check("mail", "tls", {"", "yes", "Require", "try require"}, "none, try or require");
    check("server", "socket_mode", {"rw-rw----", "0668", "06600", ""},
          "octal permissions such as 0660");
    check("console", "origin",
          {"", "console.example", "https://Console.example", "https://a/b", "https://a/",
           "https://a:0", "https://a:65536", "https://a:", "https://*.a", "http://a.example"},
          "https://HOST[:PORT] (http:// on the loopback only), in lower case and without a path");
}

BOOST_AUTO_TEST_CASE(a_valid_choice_is_read) {
    BOOST_TEST(load("[webhooks]\nloopback = yes\n").webhooks.loopback);
    BOOST_TEST(!load("[webhooks]\nloopback = no\n").webhooks.loopback);
    BOOST_TEST(load("[mail]\ntls = require\n").mail.tls == "require");
    BOOST_TEST(load("[log]\nlevel = error\n").log.level == "error");
    BOOST_TEST(load("[console]\norigin = https://a.example:8443\n").console.origin ==
               "https://a.example:8443");
}

BOOST_AUTO_TEST_CASE(an_address_that_the_programs_cannot_use_is_rejected) {
    const auto check = [&](const std::string& section, const std::string& key,
                           const std::vector<std::string>& good,
                           const std::vector<std::string>& bad) {
        const std::string line = "[" + section + "]\n" + key + " = ";
        for (const std::string& value : good) BOOST_TEST(refusal(line + value + "\n") == "");
        for (const std::string& value : bad) {
            BOOST_TEST(refusal(line + value + "\n")
                           .starts_with("muster.conf:2: " + section + "." + key + " is \"" + value +
                                        "\"; use "));
        }
    };
    check("database", "url",
          {"unix:/run/a.sock", "tcp://db:3306", "tcp://db", "tcp://10.0.0.7:3306",
           "tcp://[2001:db8::1]:3306", "tcp://db1,tcp://db_2:1 , unix:/a", "tcp://1db",
           "tcp://12.lan:1", "tcp://1.2.3.a"},
          {"",
           "foo",
           "tcp://h:99999",
           "tcp://h:0",
           "tcp://",
           "tcp://:1",
           "unix:",
           "unix:a.sock",
           "tcp://a,",
           "tcp://a,b",
           "tcp://a/name",
           "mysql://a",
           "tcp://::1:3306",
           "tcp://a..b",
           "tcp://a-",
           "tcp://a.-b",
           "tcp://1.2.3",
           "tcp://12",
           "tcp://db.12",
           "tcp://10.0.0.256:3306",
           "tcp://..",
           "tcp://" + std::string(64, 'a'),
           "unix:/run/"});
    check("database", "name", {"a b", std::string(64, 'x')}, {"", std::string(65, 'x')});
    check("files", "sql", {"/usr/share"}, {"", "sql", "./sql"});
    for (const char* key : {"socket", "collector_socket", "reader_socket"}) {
        check("server", key, {"/run/a b", "/" + std::string(106, 'x')},
              {"", "muster.socket", "./a", "/", "/run/", "/" + std::string(107, 'x')});
    }
    check("server", "base_url",
          {"https://api.example.org", "https://API.example:8443", "https://[::1]:1",
           "http://127.0.0.1:8080", "http://localhost"},
          {"", "api.example.org", "http://api.example.org", "https://a..b", "https://a/v1",
           "https://a/a", "https://a/", "https://a?b", "https://a:99999", "https://", "ftp://a",
           "https:// a"});
    check("webhooks", "dns",
          {"", "10.0.0.1", "10.0.0.1:53,[2001:db8::1]:53,2001:db8::2", "::1", "127.0.0.1:5353"},
          {"localhost", "dns.example:53", "10.0.0.1:99999", "10.0.0.1:", "10.0.0.1, 10.0.0.2",
           "10.0.0.1,", "[::1]", "[10.0.0.1]:53", "fe80::1%eth0", "10.0.0"});
    check("mail", "url", {"smtp://mail_relay:2525", "smtp://mail.example.org."},
          {"smtp://a:99999", "smtp://a:x", "smtp://a..b", "smtp://256.0.0.1"});
    check("providers.slack", "host", {"", "gitlab.example", "gitlab:8443", "[::1]:80", "10.0.0.7"},
          {"a:b:c", "a:99999", "a,b", "a..b", "[::1", "a;b", "10.0.0"});
}

BOOST_AUTO_TEST_CASE(the_reason_excludes_the_address_that_it_rejects) {
    BOOST_TEST(refusal("[server]\nsocket = /run/\n") ==
               "muster.conf:2: server.socket is \"/run/\"; use an absolute path of a file, at most "
               "107 bytes");
    BOOST_TEST(refusal("[database]\nurl = tcp://123456789012:3306\n")
                   .ends_with("where HOST is an IP address or a name whose last part is not a "
                              "number"));
}

BOOST_AUTO_TEST_CASE(two_sockets_with_the_same_path_are_rejected) {
    BOOST_TEST(refusal("[server]\nsocket = /run/a\nreader_socket = /run/a\n") ==
               "muster.conf: server.socket and server.reader_socket are both \"/run/a\"; "
               "give each a path of its own");
    BOOST_TEST(refusal("[server]\ncollector_socket = /run/muster-reader.socket\n")
                   .starts_with("muster.conf: server.collector_socket and server.reader_socket"));
}

BOOST_AUTO_TEST_CASE(a_certificate_file_must_be_readable_and_have_a_certificate) {
    const std::string file = scratch.write("ca.pem", "# mine\n-----BEGIN CERTIFICATE-----\nMA==\n");
    const std::string pipe = scratch.file("pipe");
    BOOST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    for (const auto& [section, key] :
         std::vector<std::pair<std::string, std::string>>{{"database", "tls_ca"},
                                                          {"mail", "ca_file"},
                                                          {"webhooks", "ca_file"},
                                                          {"providers.slack", "ca_file"}}) {
        const std::string line = "[" + section + "]\n" + key + " = ";
        BOOST_TEST(refusal(line + file + "\n") == "");
        BOOST_TEST(refusal(line + "\n") == "");
        for (const std::string& bad : {std::string("/nowhere/ca.pem"), std::string("/dev/zero"),
                                       std::string("/tmp"), pipe, scratch.write("empty", ""),
                                       scratch.write("key.pem", "-----BEGIN PRIVATE KEY-----\n")}) {
            const std::string shown =
                bad.substr(bad.starts_with(scratch.file("")) ? scratch.file("").size() : 0);
            BOOST_TEST(refusal(line + bad + "\n") ==
                       "muster.conf:2: " + section + "." + key + " is \"" + shown +
                           "\"; use a file with certificates in PEM format that the programs can "
                           "read");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_rejected_address_does_not_show_its_password) {
    BOOST_TEST(refusal("[mail]\nurl = smtp://user:pw@host\n") ==
               "muster.conf:2: mail.url is not valid; use smtp://HOST[:PORT] or "
               "smtps://HOST[:PORT]");
    const std::string reason = refusal("[database]\nurl = muster:hidden@db\n");
    BOOST_TEST(reason.starts_with("muster.conf:2: database.url is not valid; use "), reason);
    BOOST_TEST(reason.find("hidden") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(invalid_mail_settings_are_rejected_with_their_line) {
    const auto check = [&](const std::string& key, const std::string& value, bool is_good) {
        const std::string reason = refusal("[mail]\n" + key + " = " + value + "\n");
        BOOST_TEST(reason.empty() == is_good, key << " = " << value << ": " << reason);
        if (is_good) return;
        BOOST_TEST(reason.starts_with("muster.conf:2: mail." + key + " is "), reason);
        BOOST_TEST(reason.find("; use ") != std::string::npos, reason);
    };
    for (const char* good : {"smtp://localhost", "smtp://[::1]:25", "smtps://mail.example.org:465"})
        check("url", good, true);
    for (const char* bad :
         {"", "localhost:25", "http://localhost", "smtp://", "smtp://:25", "smtp://u:p@host",
          "smtp://host/name", "smtp://a b", "smtp://host?x", "SMTP://host"}) {
        check("url", bad, false);
    }
    for (const char* good : {"muster@example.org", "muster@localhost", "a.b+c@x.test",
                             "a@[192.0.2.1]", "a@[IPv6:2001:db8::1]", "a@[ipv6:::1]"}) {
        check("from", good, true);
    }
    for (const char* bad : {"",
                            "muster",
                            "@example.org",
                            "muster@",
                            "a@b@c",
                            "a b@example.org",
                            "a@b..c",
                            "a@b:25",
                            "a@-b",
                            "a,b@c",
                            "a..b@c",
                            "(a)@c",
                            "a@[::1]",
                            "a@[IPv6:192.0.2.1]",
                            "a@[192.0.2]",
                            "a@[]",
                            "a@[",
                            "a@]",
                            "a@[192.0.2.1]x",
                            "a@[a.example]",
                            "Muster <muster@example.org>",
                            "m\u00fcster@example.org"}) {
        check("from", bad, false);
    }
    for (const char* good : {"none", "try", "require"}) check("tls", good, true);
    for (const char* bad : {"", "yes", "Require"}) check("tls", bad, false);
    BOOST_TEST(refusal("[jobs]\naudit_days = 29\n") ==
               "muster.conf:2: jobs.audit_days is \"29\"; use a number from 30 to 36500");
}

BOOST_AUTO_TEST_CASE(a_folder_is_not_a_file) {
    const Variable key("MUSTER_SECURITY_KEY_FILE", key_file);
    BOOST_CHECK_EXCEPTION(load_settings(scratch.file(""), kProviders), SettingsError,
                          [this](const SettingsError& error) {
                              return error.what() ==
                                     scratch.file("") +
                                         ": cannot be read: it is a folder; --config or "
                                         "MUSTER_CONFIG names another file";
                          });
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_rejected) {
    BOOST_CHECK_EXCEPTION(load_settings("/nowhere/muster.conf", kProviders), SettingsError,
                          [](const SettingsError& error) {
                              return std::string(error.what()) ==
                                     "/nowhere/muster.conf: cannot be read: "
                                     "No such file or directory; --config or MUSTER_CONFIG "
                                     "names another file";
                          });
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_is_skipped) {
    BOOST_TEST(load("\xEF\xBB\xBF[server]\nworkers = 3\n").server.workers == 3);
    BOOST_TEST(load("\xEF\xBB\xBF# a comment\n[server]\nworkers = 3\n").server.workers == 3);
}

// ---------------------------------------------------------------------------- the environment

BOOST_AUTO_TEST_CASE(the_environment_overrides_the_file_and_the_default) {
    const Variable workers("MUSTER_SERVER_WORKERS", "4");
    const Variable name("MUSTER_DATABASE_NAME", "other");
    const Settings read = load("[server]\nworkers = 2\n");
    BOOST_TEST(read.server.workers == 4);
    BOOST_TEST(read.database.name == "other");
}

BOOST_AUTO_TEST_CASE(a_mistake_in_the_environment_is_rejected_with_the_variable) {
    const Variable workers("MUSTER_SERVER_WORKERS", "many");
    BOOST_TEST(refusal("") ==
               "MUSTER_SERVER_WORKERS: server.workers is \"many\"; use a number from 1 to 256");
}

BOOST_AUTO_TEST_CASE(a_secret_in_the_environment_may_be_a_file) {
    const Variable password("MUSTER_DATABASE_PASSWORD",
                            "file:" + scratch.write("p", "from a file\n"));
    BOOST_TEST(load("[database]\npassword = no\n").database.password.reveal() == "from a file");
    const Variable key("MUSTER_SECURITY_KEY_FILE", key_file);
    BOOST_TEST(load("[security]\nkey_file = /nowhere\n").security.key.reveal() == kKeyBytes);
}

BOOST_AUTO_TEST_CASE(a_password_file_of_the_environment_may_end_with_a_line_end) {
    const Variable password("MUSTER_DATABASE_PASSWORD", "s3cret word\n");
    BOOST_TEST(load("").database.password.reveal() == "s3cret word");
}

// ---------------------------------------------------------------------------- printed settings

BOOST_AUTO_TEST_CASE(the_shipped_file_is_valid_unchanged_and_with_every_key_uncommented) {
    const Variable key("MUSTER_SECURITY_KEY_FILE", key_file);
    BOOST_TEST(refusal(muster::shipped_settings(kProviders)) == "");
    std::istringstream in(muster::shipped_settings(kProviders));
    std::string uncommented;
    int keys = 0;
    for (std::string line; std::getline(in, line);) {
        const bool is_key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
        keys += is_key ? 1 : 0;
        uncommented += (is_key ? line.substr(1) : line) + "\n";
    }
    BOOST_TEST(keys > 15);
    const Settings read = load_settings(scratch.write("shipped.conf", uncommented), kProviders);
    const Settings defaults = load_settings(scratch.write("empty.conf", ""), kProviders);
    BOOST_TEST(read.server.workers == defaults.server.workers);
    BOOST_TEST(read.database.url == defaults.database.url);
    BOOST_TEST(read.files.sql == defaults.files.sql);
}

BOOST_AUTO_TEST_CASE(the_manual_describes_every_key_of_the_shipped_file) {
    const std::string manual = muster::settings_manual(kProviders);
    std::istringstream in(muster::shipped_settings(kProviders));
    for (std::string line; std::getline(in, line);) {
        if (line.size() > 1 && line[0] == '#' && line[1] != ' ') {
            const std::string key = line.substr(1, line.find(" =") - 1);
            BOOST_TEST(manual.find(".B " + key + "\n") != std::string::npos, key);
        }
        // The sections of the providers share one description.
        if (line.starts_with("[providers.")) line = "[providers.<id>]";
        if (line.starts_with("["))
            BOOST_TEST(manual.find(".SS " + line) != std::string::npos, line);
    }
    for (const std::string_view id : kProviders) {
        BOOST_TEST(manual.find(id) != std::string::npos, std::string(id));
    }
}

BOOST_AUTO_TEST_SUITE_END()
