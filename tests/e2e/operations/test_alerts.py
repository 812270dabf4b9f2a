"""Monitoring: the shipped alerting rules cover every metric of /metrics and no other, the documented ways to scrape work
(docs/operations/monitoring.md), and the table of log events lists every event."""

import re
import subprocess
from contextlib import contextmanager

import pytest
import requests
import yaml
from support import wire
from support.client import Client
from support.edge import Edge
from support.documented import note
from support.ports import free_port
from support.runbook import DOCS, Machine, anchors, block, pages, section
from support.stack import ROOT, wait_for

EXAMPLES = ROOT / "docs/examples"
RULES, TESTS = EXAMPLES / "muster.rules.yml", EXAMPLES / "muster.rules.test.yml"


@pytest.fixture(scope="module")
def rules():
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    return group["rules"]


@pytest.fixture(scope="module")
def figures(stack):
    """/metrics, with every kind of metric in it."""
    text = Client(stack, None).get("/metrics", expect=200).text
    assert "muster_database_up 1" in text
    return text


def metrics_of(figures):
    """{name: type}"""
    return dict(re.findall(r"^# TYPE (\w+) (\w+)$", figures, re.MULTILINE))


def named(rule):
    """Muster's metrics in the expression of a rule; parts of a histogram count as the histogram."""
    return {re.sub("_(bucket|sum|count)$", "", name) for name in re.findall(r"\bmuster_\w+", rule["expr"])}


def promtool(*arguments):
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=60)


# ---------------------------------------------------------------------------- the rules


def test_each_metric_has_an_alert_or_a_documented_reason_and_each_alert_a_metric(rules, figures):
    shown = set(metrics_of(figures))
    watched = set().union(*map(named, rules))
    argued = set(re.findall(r"^# No alarm on (\w+): \w+", RULES.read_text(), re.MULTILINE))
    assert len(shown) >= 16
    assert watched - shown == set() and argued - shown == set()
    assert shown - watched - argued == set()
    assert watched & argued == set()


def test_each_operation_and_status_in_a_rule_is_one_of_the_metrics(rules, figures):
    for rule in rules:
        for label, values in re.findall(r'\b(operation|state)(?:=~|!~|!=|=)"([^"]*)"', rule["expr"]):
            for value in values.split("|"):
                assert f'{label}="{value}"' in figures, f"{rule['alert']}: unknown {label} {value}"
        for value in re.findall(r'\bstatus(?:=~|!~|!=|=)"([^"]*)"', rule["expr"]):
            assert all(f'status="{one}"' in figures for one in value.split("|")), f"{rule['alert']}: {value}"


def test_each_alert_has_a_severity_an_instruction_and_a_link(rules):
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 14
    for rule in rules:
        assert rule["labels"].keys() == {"severity"} and rule["labels"]["severity"] in ("critical", "warning"), rule["alert"]
        assert re.fullmatch(r"\d+m", rule["for"]), rule["alert"]
        assert rule["annotations"].keys() == {"summary", "runbook"}
        where = rule["annotations"]["runbook"]
        page, _, anchor = where.partition("#")
        assert DOCS.parent / page in pages(), f"{rule['alert']}: {where} is not there"
        assert not anchor or anchor in anchors(DOCS.parent / page), f"{rule['alert']}: {where} does not exist"
        assert re.search(r"\b([Ss]ee|Raise|tell)\b", rule["annotations"]["summary"]), f"{rule['alert']}: the summary has no instruction"
        assert 'job="muster"' in rule["expr"]


def test_the_docs_name_each_alert(rules):
    alarms = {rule["alert"] for rule in rules}
    assert set(re.findall(r"`(Muster[A-Z]\w+)`", section("Metrics"))) == alarms


def test_the_index_lists_each_page():
    index = (DOCS / "README.md").read_text()
    listed = set(re.findall(r"\]\(([a-z]+\.md)\)", index))
    assert listed == {page.name for page in pages()} - {"README.md"}


def test_the_rules_and_their_unit_tests_pass():
    for arguments in (("check", "rules", RULES), ("test", "rules", TESTS)):
        done = promtool(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_fires_in_a_unit_test_and_is_silent_before(rules):
    loud = {}
    for case in yaml.safe_load(TESTS.read_text())["tests"]:
        said = [sample["labels"] for check in case["promql_expr_test"] for sample in check["exp_samples"]]
        quiet = [check for check in case["promql_expr_test"] if not check["exp_samples"]]
        for name in re.findall(r'alertname="(\w+)"', " ".join(said)):
            loud[name] = loud.get(name) or bool(quiet)
    assert loud == {rule["alert"]: True for rule in rules}


def test_the_unit_tests_detect_a_rule_that_never_fires(tmp_path):
    (tmp_path / TESTS.name).write_text(TESTS.read_text())
    (tmp_path / RULES.name).write_text(RULES.read_text().replace("muster_mail_oldest_seconds{", "muster_mail_oldest{"))
    done = promtool("test", "rules", tmp_path / TESTS.name)
    assert done.returncode != 0 and "MusterMailWaits" in done.stdout + done.stderr


# ---------------------------------------------------------------------------- scraping


@contextmanager
def prometheus(stack, folder, port):
    """Debian's Prometheus with the shipped configuration, except for address, name and authority; yields the address of
    its API."""
    config = yaml.safe_load((EXAMPLES / "muster.prometheus.yml").read_text())
    assert config["rule_files"] == ["/etc/prometheus/muster.rules.yml"]
    config["rule_files"] = [str(RULES)]
    (job,) = config["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["127.0.0.1:443"]}] and list(job["tls_config"]) == ["server_name"]
    job["static_configs"] = [{"targets": [f"127.0.0.1:{port}"]}]
    job["tls_config"] = {"server_name": "localhost", "ca_file": stack.ca_file}
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    api = f"127.0.0.1:{free_port()}"
    with open(folder / "prometheus.log", "wb") as log:
        process = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                                    f"--web.listen-address={api}"], stdout=log, stderr=log)
    try:
        yield f"http://{api}/api/v1"
    finally:
        process.terminate()
        process.wait(20)


def asked(url):
    """The data of Prometheus's reply; None while it does not reply."""
    session = requests.Session()
    session.trust_env = False
    try:
        return session.get(url, timeout=10).json()["data"]
    except (requests.RequestException, ValueError):
        return None


def scrapes(api):
    """Prometheus's metric `up` of each host: "1" after a scrape that succeeded. Empty before the first scrape."""
    found = asked(f"{api}/query?query=up")
    return [sample["value"][1] for sample in found["result"]] if found else []


def states(api):
    """{alert: its state} after all rules have been evaluated; {} before."""
    found = asked(f"{api}/rules")
    rules = found["groups"][0]["rules"] if found and found["groups"] else []
    assert not [rule for rule in rules if rule["health"] == "err"], rules
    return {rule["name"]: rule["state"] for rule in rules} if all(rule["health"] == "ok" for rule in rules) else {}


def test_a_real_prometheus_on_the_host_scrapes_and_evaluates_the_rules(stack, tmp_path):
    with prometheus(stack, tmp_path, stack.port) as api:
        wait_for(lambda: states(api).get("MusterDown") == "inactive" and scrapes(api), "Prometheus to scrape and evaluate")
        wait_for(lambda: scrapes(api) == ["1"], "the metrics")
        quiet = {"MusterDatabaseDown": "inactive", "MusterUnwatched": "inactive"}
        wait_for(lambda: quiet.items() <= states(api).items(), "the alerts to be inactive")
        with stack.without("mariadbd"):
            wait_for(lambda: states(api).get("MusterDatabaseDown") == "pending", "the database alert")
        with stack.without("musterd"):
            wait_for(lambda: states(api).get("MusterDown") == "pending", "the musterd alert")
    wait_for(stack.answers, "the stack to respond again")


def test_the_shipped_site_for_metrics_allows_one_address(stack):
    """An nginx of the sandbox with the shipped site in addition to its own; Prometheus has the address 127.0.0.5."""
    port = free_port()
    door = (EXAMPLES / "muster.metrics.conf").read_text()
    for old, new in (("10.0.0.5:9145", f"127.0.0.1:{port}"), ("10.0.0.9", "127.0.0.5"),
                     ("include snippets/muster-certificate.conf;",
                      f"ssl_certificate {stack.folder}/server.pem; ssl_certificate_key {stack.folder}/server.key;")):
        assert old in door
        door = door.replace(old, new)
    with Edge(stack, "door", [("nginx.conf", "    server {\n        listen 127.0.0.1:", f"{door}\n    server {{\n        listen 127.0.0.1:")]) as edge:
        edge.port = port
        figures = wire.exchange(edge, wire.request_bytes("GET", "/metrics"), "127.0.0.5")
        assert figures.status == 200 and b"# TYPE muster_database_up gauge" in figures.body
        status = wire.exchange(edge, wire.request_bytes("GET", "/nginx_status"), "127.0.0.5")
        assert status.status == 200 and b"Active connections" in status.body
        for path in ("/metrics", "/nginx_status"):
            assert wire.exchange(edge, wire.request_bytes("GET", path), "127.0.0.6").status == 403
        for path in ("/healthz", "/v1/imports", "/console/"):
            assert wire.exchange(edge, wire.request_bytes("GET", path), "127.0.0.5").status == 404


# ---------------------------------------------------------------------------- cron


def test_the_cron_line_for_health_is_silent_until_a_check_fails(stack):
    line = block("Health", "*/10")
    note(line)
    line = line.split("muster  ", 1)[1].strip()
    line = f"PATH=/usr/bin:/bin; {line}"  # the PATH that cron gives to other users than root
    machine = Machine(stack)
    assert machine.run(line) == ""
    key = stack.folder / "muster.key"
    kept = key.read_bytes()
    key.write_bytes(bytes(32))
    try:
        assert "WRONG  key" in machine.run(line)
    finally:
        key.write_bytes(kept)


# ---------------------------------------------------------------------------- log events


def logged():
    """{event: the levels of its calls of log_event}, and all texts in the sources that look like an event."""
    events, texts = {}, set()
    for path in (ROOT / "src").rglob("*.cpp"):
        source = path.read_text()
        texts.update(re.findall(r'"([a-z_]+\.[a-z_]+)"', source))
        for call in re.findall(r"\blog_event\((LogLevel::.*?|[a-z_]+ \? LogLevel::.*?)(?:\{\{|\);)", source, re.DOTALL):
            levels = {level.lower() for level in re.findall(r"LogLevel::(\w+)", call)}
            for event in re.findall(r'"([a-z_]+\.[a-z_]+)"', call):
                events.setdefault(event, set()).update(levels)
    return events, texts


def test_the_table_of_log_events_lists_each_event_with_its_levels_and_an_instruction():
    table = {}
    for names, levels, means, to_do in re.findall(r"^\| (`[^|]*`) \| ([a-z, ]+) \| (.+?) \| (.*) \|$", section("Log events"), re.MULTILINE):
        assert means and to_do.strip(), f"{names}: the table has no instruction"
        for name in re.findall("`([^`]+)`", names):
            table[name] = set(levels.split(", "))
    events, texts = logged()
    assert len(events) > 25 and set(events) - {"request"} <= set(table)
    assert set(table) - {"request"} <= texts
    for event, levels in events.items():
        assert table[event] <= levels, f"{event}: {table[event]} in the table, {levels} in the sources"
