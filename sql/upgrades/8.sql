-- From version 7 to 8: bounds per organization, growing pauses of the second factor. Rules: 2.sql.
-- oldest program: 6
ALTER TABLE admins
    ADD COLUMN second_factor_pauses INT NOT NULL DEFAULT 0 AFTER second_factor_failures,
    ALGORITHM = INSTANT;
ALTER TABLE webhook_endpoints
    ADD COLUMN older_secret VARBINARY(255) NULL AFTER previous_secret_until,
    ADD COLUMN older_secret_until BIGINT NULL AFTER older_secret,
    ALGORITHM = INSTANT;
-- The id of an event that a module ingested, in a space of its installation. Tracked events, and ingested events from
-- before version 8, have client_event_id. The key replaces the index of the foreign key on installation_id.
ALTER TABLE engagement_events
    ADD COLUMN ingest_event_id VARCHAR(128) NULL AFTER client_event_id,
    ALGORITHM = INSTANT;
ALTER TABLE engagement_events
    ADD UNIQUE KEY ingest_event (organization_id, installation_id, ingest_event_id),
    ALGORITHM = INPLACE, LOCK = NONE;
-- Older programs insert sessions without it, and are not shown the new kind.
ALTER TABLE sessions
    ADD COLUMN second_factor_failures INT NOT NULL DEFAULT 0 AFTER verified_at,
    ALGORITHM = INSTANT;
-- Older programs do not show the list of sessions and do not replace an authenticator.
ALTER TABLE sessions
    ADD COLUMN next_totp_secret VARBINARY(255) NULL AFTER second_factor_failures,
    ADD COLUMN next_totp_at BIGINT NULL AFTER next_totp_secret,
    ADD COLUMN user_agent VARCHAR(200) NULL AFTER next_totp_at,
    ADD COLUMN country CHAR(2) NULL AFTER user_agent,
    ALGORITHM = INSTANT;
ALTER TABLE guess_budgets
    MODIFY COLUMN kind ENUM('otp_request', 'otp_verify', 'webhook_notice', 'security_notice', 'invitation') NOT NULL,
    ALGORITHM = INSTANT;
-- The runner creates the deliveries of events. Older programs create them with the event, and do not write these.
ALTER TABLE webhook_endpoints
    ADD COLUMN backlog_dropped_at BIGINT NULL AFTER failing_since,
    ADD COLUMN indexed_at BIGINT NULL AFTER updated_at,
    ALGORITHM = INSTANT;
ALTER TABLE webhook_endpoints
    ADD KEY indexed_at (organization_id, indexed_at),
    ALGORITHM = INPLACE, LOCK = NONE;
CREATE TABLE IF NOT EXISTS webhook_subscriptions (
    organization_id BINARY(16)   NOT NULL,
    event_type      VARCHAR(128) NOT NULL,
    endpoint_id     BINARY(16)   NOT NULL,
    PRIMARY KEY (organization_id, event_type, endpoint_id),
    KEY endpoint (organization_id, endpoint_id),
    CONSTRAINT webhook_subscriptions_endpoint FOREIGN KEY (organization_id, endpoint_id)
        REFERENCES webhook_endpoints (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS webhook_outbox (
    organization_id BINARY(16)   NOT NULL,
    event_id        BINARY(16)   NOT NULL,
    event_type      VARCHAR(128) NOT NULL,
    created_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, event_id),
    CONSTRAINT webhook_outbox_event FOREIGN KEY (organization_id, event_id)
        REFERENCES webhook_events (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
-- When unseen servings were last returned to the budget. Older programs do not return any.
ALTER TABLE ad_campaign_days
    ADD COLUMN returned_at BIGINT NOT NULL DEFAULT 0 AFTER served,
    ALGORITHM = INSTANT;
-- The daily uses of an organization, which have a bound. A use that many transactions count at once is spread over
-- slots.
CREATE TABLE IF NOT EXISTS organization_days (
    organization_id BINARY(16) NOT NULL,
    day             INT        NOT NULL,
    kind            ENUM('staged_bytes', 'reply_bytes', 'audit_entries', 'issued_keys', 'member_jobs', 'tracked_bytes',
                         'ingested_bytes', 'member_bytes') NOT NULL,
    slot            TINYINT    NOT NULL,
    amount          BIGINT     NOT NULL,
    PRIMARY KEY (organization_id, day, kind, slot),
    KEY day (day),
    CONSTRAINT organization_days_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
-- Ended jobs whose blocks have no further use. The runner deletes the blocks in pieces, then the row.
CREATE TABLE IF NOT EXISTS import_discards (
    organization_id BINARY(16) NOT NULL,
    job_id          BINARY(16) NOT NULL,
    PRIMARY KEY (organization_id, job_id),
    CONSTRAINT import_discards_job FOREIGN KEY (organization_id, job_id)
        REFERENCES import_jobs (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
-- A deleted endpoint is disabled and invisible until the purge has deleted its deliveries. Older programs show it as
-- disabled until then.
ALTER TABLE webhook_endpoints
    ADD COLUMN removed_at BIGINT NULL AFTER backlog_dropped_at,
    ALGORITHM = INSTANT;
ALTER TABLE webhook_endpoints
    ADD KEY removed_at (removed_at),
    ALGORITHM = INPLACE, LOCK = NONE;
-- Older programs do not know invitations: an invited person cannot sign in there.
CREATE TABLE IF NOT EXISTS seat_invitations (
    organization_id BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    email           VARCHAR(254) NOT NULL,
    role            ENUM('owner', 'admin', 'viewer') NOT NULL,
    invited_by      BINARY(16)   NULL,
    created_at      BIGINT       NOT NULL,
    sent_at         BIGINT       NOT NULL,
    expires_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY email (organization_id, email),
    KEY address (email, expires_at),
    KEY expires_at (expires_at),
    CONSTRAINT seat_invitations_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT seat_invitations_invited_by FOREIGN KEY (invited_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TRIGGER IF NOT EXISTS audit_log_update BEFORE UPDATE ON audit_log FOR EACH ROW
    IF USER() <> CURRENT_USER() THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'an entry of the audit log cannot be changed'; END IF;
CREATE TRIGGER IF NOT EXISTS audit_log_delete BEFORE DELETE ON audit_log FOR EACH ROW
    IF USER() <> CURRENT_USER() AND OLD.created_at > (UNIX_TIMESTAMP(SYSDATE()) - 29 * 86400) * 1000 THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'an entry of the audit log is kept for 29 days'; END IF;
-- A key with the role viewer can only read. Older programs issue keys with the role admin, and give every key its rights.
ALTER TABLE api_keys
    ADD COLUMN role ENUM('admin', 'viewer') NOT NULL DEFAULT 'admin' AFTER last_four,
    ALGORITHM = INSTANT;
-- What an endpoint is for, the signature of each attempt, and what an endpoint's list of deliveries needs.
ALTER TABLE webhook_endpoints
    ADD COLUMN description VARCHAR(255) NULL AFTER url,
    ALGORITHM = INSTANT;
ALTER TABLE webhook_attempts
    ADD COLUMN signature VARCHAR(255) NULL AFTER excerpt,
    ALGORITHM = INSTANT;
ALTER TABLE webhook_deliveries
    ADD KEY status (organization_id, status, id),
    ALGORITHM = INPLACE, LOCK = NONE;
-- The results of an endpoint by hour. Older programs do not count any.
CREATE TABLE IF NOT EXISTS webhook_endpoint_hours (
    organization_id   BINARY(16) NOT NULL,
    endpoint_id       BINARY(16) NOT NULL,
    slot              TINYINT    NOT NULL,
    hour_no           INT        NOT NULL,
    succeeded         BIGINT     NOT NULL,
    failed            BIGINT     NOT NULL,
    failed_attempts   BIGINT     NOT NULL,
    last_succeeded_at BIGINT     NULL,
    PRIMARY KEY (organization_id, endpoint_id, slot),
    CONSTRAINT webhook_endpoint_hours_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
-- The operator disables an organization, and deletes it in pieces. Older programs do not know that it is disabled.
ALTER TABLE organizations
    ADD COLUMN disabled_at BIGINT NULL AFTER created_at,
    ALGORITHM = INSTANT;
CREATE TABLE IF NOT EXISTS organization_deletions (
    organization_id BINARY(16) NOT NULL,
    requested_at    BIGINT     NOT NULL,
    deleted_rows    BIGINT     NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id),
    CONSTRAINT organization_deletions_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
-- Jobs that change all members that match a filter. The runner of an older program leaves them waiting.
CREATE TABLE IF NOT EXISTS member_jobs (
    organization_id   BINARY(16)     NOT NULL,
    id                BINARY(16)     NOT NULL,
    created_by_id     BINARY(16)     NULL,
    committed_by_id   BINARY(16)     NULL,
    request_id        VARCHAR(64)    NULL,
    action            ENUM('lock', 'unlock', 'remove') NOT NULL,
    reason            VARCHAR(255)   NULL,
    filter            MEDIUMTEXT     NOT NULL,
    state             ENUM('validating', 'validated', 'committing', 'completed', 'failed', 'canceled') NOT NULL,
    active_job        TINYINT GENERATED ALWAYS AS
                          (IF(state IN ('validating', 'validated', 'committing'), 1, NULL)) VIRTUAL,
    processed_count   INT            NOT NULL DEFAULT 0,
    preview_changed   INT            NOT NULL DEFAULT 0,
    preview_unchanged INT            NOT NULL DEFAULT 0,
    changed_count     INT            NOT NULL DEFAULT 0,
    unchanged_count   INT            NOT NULL DEFAULT 0,
    position          VARBINARY(3072) NOT NULL,
    attempts          INT            NOT NULL DEFAULT 0,
    failure_code      VARCHAR(64)    NULL,
    failure_message   VARCHAR(255)   NULL,
    lease_owner       BINARY(16)     NULL,
    lease_until       BIGINT         NOT NULL DEFAULT 0,
    served_at         BIGINT         NOT NULL DEFAULT 0,
    phase_started_at  BIGINT         NOT NULL,
    heartbeat_at      BIGINT         NULL,
    validated_at      BIGINT         NULL,
    completed_at      BIGINT         NULL,
    expires_at        BIGINT         NOT NULL,
    created_at        BIGINT         NOT NULL,
    updated_at        BIGINT         NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY active_job (organization_id, active_job),
    KEY work (state, served_at),
    KEY expires_at (expires_at),
    CONSTRAINT member_jobs_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT member_jobs_created_by FOREIGN KEY (created_by_id) REFERENCES admins (id),
    CONSTRAINT member_jobs_committed_by FOREIGN KEY (committed_by_id) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
