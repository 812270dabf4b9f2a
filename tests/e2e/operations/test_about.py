"""What the console shows of the installation (docs/api/limits.md "GET /console/v1/about")."""

import base64
import hashlib
import subprocess


def test_the_console_reads_what_the_installation_is(module_org, stack):
    about = module_org.viewer().api.get_json("/console/v1/about")
    version = stack.program("musterd", "--version").stdout.split()[1]
    assert about["version"] == version and about["base_url"] == stack.base_url
    assert about["limits"] == {"import_rows": 250_000, "staged_rows": 5_000, "staging_bytes": 16 << 20, "body_bytes": 256 << 10,
                               "staged_bytes_per_day": 2 << 30, "reply_bytes_per_day": 4 << 30, "audit_entries_per_day": 20_000,
                               "tracked_bytes_per_day": 4 << 30, "ingested_bytes_per_day": 4 << 30,
                               "member_bytes_per_day": 4 << 30}
    assert set(about["rates"]) == {"key", "organization", "tracking_key"}
    assert all(set(rate) == {"per_second", "burst"} for rate in about["rates"].values())
    assert about["retention"] == {"import_days": 30, "audit_log_days": 400, "engagement_event_days": None,
                                  "webhook_event_days": 30, "revoked_key_days": 30}
    # The integrity is that of the script at the address.
    script = subprocess.run(["curl", "-sS", "--fail", "--cacert", stack.ca_file, about["tracking_script"]["url"]],
                            capture_output=True, check=True).stdout
    digest = base64.b64encode(hashlib.sha384(script).digest()).decode()
    assert about["tracking_script"] == {"url": f"{stack.base_url}/js/muster.js", "integrity": f"sha384-{digest}"}


def test_settings_of_the_operator_are_shown(module_org, stack):
    with stack.configured("[limits]", "key_rate = 77", "key_burst = 99"):
        about = module_org.viewer().api.get_json("/console/v1/about")
    assert about["rates"]["key"] == {"per_second": 77, "burst": 99}
