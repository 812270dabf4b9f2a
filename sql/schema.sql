-- Muster's schema, version 8. `musterctl db init` runs it statement by statement; each statement ends with `;` at the
-- end of a line. It works on MariaDB 10.11 and on MySQL 8. The files in sql/upgrades/ upgrade a database of an older
-- version to it.
--
-- Times are BIGINT milliseconds since 1970 UTC: no time zones, no fraction formats, no year 2038 problem. Ids are
-- UUIDv7 as BINARY(16); they ascend, so inserts append. The primary key of each tenant table begins with
-- organization_id. Foreign keys between tenant tables include it, so a row cannot refer to another tenant's row.
--
-- The next line has the same meaning as in an upgrade (sql/upgrades/2.sql):
-- oldest program: 6

-- One row for each version that this database has had. The newest row is the current version. oldest_program: the
-- oldest programs that work with the schema, as the version that they were written for
-- (src/rules/operations/schema_fit.hpp); NULL before version 6.
CREATE TABLE IF NOT EXISTS schema_version (
    version        INT UNSIGNED NOT NULL,
    applied_at     BIGINT       NOT NULL,
    oldest_program INT UNSIGNED NULL,
    PRIMARY KEY (version)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- disabled_at: the operator disabled it. No credential works, and the runner does nothing for it.
CREATE TABLE IF NOT EXISTS organizations (
    id          BINARY(16)   NOT NULL,
    name        VARCHAR(255) NOT NULL,
    created_at  BIGINT       NOT NULL,
    disabled_at BIGINT       NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Disabled organizations that are being deleted, in pieces (src/service/organization/deletion.hpp). The row is deleted
-- together with the organization.
CREATE TABLE IF NOT EXISTS organization_deletions (
    organization_id BINARY(16) NOT NULL,
    requested_at    BIGINT     NOT NULL,
    deleted_rows    BIGINT     NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id),
    CONSTRAINT organization_deletions_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The daily uses of an organization, which have a bound (src/rules/quotas.hpp). day: days since 1970. A use that many
-- transactions count at once is spread over slots.
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

-- The global identity. Addresses are in Unicode NFC with simple case folding before they are stored
-- (src/base/email.cpp). The collation is binary, so addresses with any other difference are distinct.
CREATE TABLE IF NOT EXISTS users (
    id         BINARY(16)   NOT NULL,
    email      VARCHAR(254) NOT NULL,
    created_at BIGINT       NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY email (email)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The record of a user in one organization. An absent value is NULL, never ''. attributes: {"key": [value, provenance,
-- milliseconds], …}. One document per member needs a third of the index writes of one row per value, and filling gaps
-- is JSON_MERGE_PATCH(new, existing). The type is TEXT because MariaDB's JSON adds a check per row that the application
-- has already made. email: a copy of users.email, which never changes. So look-ups and prefix searches use only the
-- tenant's own index. search_name: the name of the person. The searched columns have a collation that ignores case and
-- accents. Each index ends in user_id, the tie-breaker of keyset pages (src/store/members/list.cpp).
CREATE TABLE IF NOT EXISTS members (
    organization_id BINARY(16)   NOT NULL,
    user_id         BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    email           VARCHAR(254) COLLATE utf8mb4_general_ci NOT NULL,
    external_id     VARCHAR(255) NULL,
    first_name      VARCHAR(255) COLLATE utf8mb4_general_ci NULL,
    last_name       VARCHAR(255) COLLATE utf8mb4_general_ci NULL,
    display_name    VARCHAR(255) COLLATE utf8mb4_general_ci NULL,
    search_name     VARCHAR(511) COLLATE utf8mb4_general_ci GENERATED ALWAYS AS
                        (COALESCE(display_name, CONCAT_WS(' ', first_name, last_name))) STORED,
    locale          VARCHAR(35)  NULL,
    country         CHAR(2)      NULL,
    dob             CHAR(10)     NULL,
    attributes      MEDIUMTEXT   NOT NULL,
    status          ENUM('active', 'locked') NOT NULL DEFAULT 'active',
    locked_at       BIGINT       NULL,
    lock_reason     VARCHAR(255) NULL,
    created_at      BIGINT       NOT NULL,
    updated_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, user_id),
    UNIQUE KEY member (organization_id, id),
    KEY external_id_user (organization_id, external_id, user_id),
    KEY email (organization_id, email, user_id),
    KEY search_name (organization_id, search_name, user_id),
    KEY last_name (organization_id, last_name, user_id),
    KEY updated_at (organization_id, updated_at, user_id),
    KEY status (organization_id, status, user_id),
    CONSTRAINT members_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT members_user FOREIGN KEY (user_id) REFERENCES users (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The attribute registry of specification 2.2. choices: a JSON array of strings; NULL for types without choices.
CREATE TABLE IF NOT EXISTS attributes (
    organization_id BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    attribute_key   VARCHAR(64)  NOT NULL,
    label           VARCHAR(255) NOT NULL,
    type            ENUM('text', 'number', 'date', 'boolean', 'single_choice', 'multi_choice') NOT NULL,
    choices         MEDIUMTEXT   NULL,
    enabled         BOOLEAN      NOT NULL,
    created_at      BIGINT       NOT NULL,
    updated_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY attribute_key (organization_id, attribute_key),
    CONSTRAINT attributes_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- totp_secret: sealed (src/base/sealing.hpp); valid once totp_enrolled_at is set. totp_last_step: codes of this time
-- step and earlier ones are rejected. Failures of the second factor, including backup codes, are counted per admin
-- (src/rules/access/second_factor.hpp). second_factor_failures: since the last pause. second_factor_pauses: in a row.
-- second_factor_paused_until: without a pause, the time of the last failure.
CREATE TABLE IF NOT EXISTS admins (
    id                         BINARY(16)     NOT NULL,
    email                      VARCHAR(254)   NOT NULL,
    totp_secret                VARBINARY(255) NULL,
    totp_enrolled_at           BIGINT         NULL,
    totp_last_step             BIGINT         NOT NULL DEFAULT 0,
    second_factor_failures     INT            NOT NULL DEFAULT 0,
    second_factor_pauses       INT            NOT NULL DEFAULT 0,
    second_factor_paused_until BIGINT         NOT NULL DEFAULT 0,
    created_at                 BIGINT         NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY email (email)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS seats (
    organization_id BINARY(16) NOT NULL,
    admin_id        BINARY(16) NOT NULL,
    role            ENUM('owner', 'admin', 'viewer') NOT NULL,
    created_at      BIGINT     NOT NULL,
    PRIMARY KEY (organization_id, admin_id),
    KEY admin (admin_id, created_at),
    CONSTRAINT seats_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT seats_admin FOREIGN KEY (admin_id) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Invitations to seats. The id is not the admin's, because the age of that one would show that the address has an
-- account. The row is deleted when the invitation is accepted or withdrawn, or 30 days after its end.
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

-- SHA-256 of the admin's id and the code, which has 120 random bits (80 in earlier versions).
-- The row is deleted when the code is used.
CREATE TABLE IF NOT EXISTS backup_codes (
    admin_id   BINARY(16) NOT NULL,
    code_hash  BINARY(32) NOT NULL,
    created_at BIGINT     NOT NULL,
    PRIMARY KEY (admin_id, code_hash),
    CONSTRAINT backup_codes_admin FOREIGN KEY (admin_id) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A session of an admin. token_hash: SHA-256 of the token's 256 random bits. verified_at: when the second factor was
-- passed last; NULL before. second_factor_failures: since then. next_totp_secret: sealed, of an authenticator that
-- replaces the admin's when it has shown a code. user_agent, country: of the request that opened the session.
CREATE TABLE IF NOT EXISTS sessions (
    id                     BINARY(16)     NOT NULL,
    token_hash             BINARY(32)     NOT NULL,
    admin_id               BINARY(16)     NOT NULL,
    active_organization_id BINARY(16)     NOT NULL,
    verified_at            BIGINT         NULL,
    second_factor_failures INT            NOT NULL DEFAULT 0,
    next_totp_secret       VARBINARY(255) NULL,
    next_totp_at           BIGINT         NULL,
    user_agent             VARCHAR(200)   NULL,
    country                CHAR(2)        NULL,
    created_at             BIGINT         NOT NULL,
    last_used_at           BIGINT         NOT NULL,
    expires_at             BIGINT         NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY token_hash (token_hash),
    KEY admin (admin_id),
    KEY expires_at (expires_at),
    CONSTRAINT sessions_admin FOREIGN KEY (admin_id) REFERENCES admins (id),
    CONSTRAINT sessions_organization FOREIGN KEY (active_organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The current sign-in code of an address. subject: the HMAC of the address, so that unknown addresses are not stored.
-- An address without an admin also gets a row, with the hash of a code that was not sent.
CREATE TABLE IF NOT EXISTS otp_codes (
    subject    BINARY(32) NOT NULL,
    code_hash  BINARY(32) NOT NULL,
    failures   INT        NOT NULL DEFAULT 0,
    expires_at BIGINT     NOT NULL,
    PRIMARY KEY (subject),
    KEY expires_at (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The attempts of a guess budget: their times (8 bytes each, milliseconds) within the window. Each attempt locks the
-- row, so that parallel guesses are counted one by one. webhook_notice: mails of an organization about its endpoints.
-- security_notice: mails of an organization about new access to it, or of an admin about guesses; also changes of an
-- admin's second factor, and switches of an admin to an organization. invitation: mails of an organization with
-- invitations, and those to an address.
CREATE TABLE IF NOT EXISTS guess_budgets (
    kind       ENUM('otp_request', 'otp_verify', 'webhook_notice', 'security_notice', 'invitation') NOT NULL,
    subject    BINARY(32)     NOT NULL,
    spent      VARBINARY(512) NOT NULL,
    expires_at BIGINT         NOT NULL,
    PRIMARY KEY (kind, subject),
    KEY expires_at (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Queued mail. content: address, subject and text; sealed, because a text may contain a sign-in code. A row without an
-- address is not sent (src/service/mail.hpp says why). Rows are deleted after sending. next_attempt_at: less 10^15 for
-- sign-in codes, so that the index has them first.
CREATE TABLE IF NOT EXISTS mail_outbox (
    id              BINARY(16) NOT NULL,
    content         MEDIUMBLOB NOT NULL,
    attempts        INT        NOT NULL DEFAULT 0,
    next_attempt_at BIGINT     NOT NULL,
    lease_owner     BINARY(16) NULL,
    lease_until     BIGINT     NOT NULL DEFAULT 0,
    created_at      BIGINT     NOT NULL,
    expires_at      BIGINT     NOT NULL,
    PRIMARY KEY (id),
    KEY due (next_attempt_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The audit log. organization_id: the organization of the log; NULL for entries about the installation. actor_id: the
-- admin; NULL for the operator and for Muster itself (system). details: a flat JSON object without secrets and
-- addresses.
CREATE TABLE IF NOT EXISTS audit_log (
    organization_id BINARY(16)   NULL,
    id              BINARY(16)   NOT NULL,
    actor           ENUM('admin', 'operator', 'system') NOT NULL,
    actor_id        BINARY(16)   NULL,
    action          VARCHAR(64)  NOT NULL,
    subject_id      VARCHAR(64)  NULL,
    details         MEDIUMTEXT   NOT NULL,
    request_id      VARCHAR(64)  NULL,
    created_at      BIGINT       NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY organization (organization_id, id),
    CONSTRAINT audit_log_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
-- Only the owner of the schema, who created the triggers, may change the audit log. The programs' user may insert entries,
-- and delete those that are older than the shortest retention (jobs.audit_days). SYSDATE() ignores the session's timestamp.
CREATE TRIGGER IF NOT EXISTS audit_log_update BEFORE UPDATE ON audit_log FOR EACH ROW
    IF USER() <> CURRENT_USER() THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'an entry of the audit log cannot be changed'; END IF;
CREATE TRIGGER IF NOT EXISTS audit_log_delete BEFORE DELETE ON audit_log FOR EACH ROW
    IF USER() <> CURRENT_USER() AND OLD.created_at > (UNIX_TIMESTAMP(SYSDATE()) - 29 * 86400) * 1000 THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'an entry of the audit log is kept for 29 days'; END IF;

-- Only the SHA-256 of a secret is stored; a secret has 256 random bits, so a fast hash is enough. If rate or burst is
-- NULL, the installation's default applies. A key with the role viewer can only read.
CREATE TABLE IF NOT EXISTS api_keys (
    organization_id BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    name            VARCHAR(255) NOT NULL,
    secret_hash     BINARY(32)   NOT NULL,
    last_four       CHAR(4)      NOT NULL,
    role            ENUM('admin', 'viewer') NOT NULL DEFAULT 'admin',
    rate_per_second INT          NULL,
    burst           INT          NULL,
    created_by      BINARY(16)   NULL,
    created_at      BIGINT       NOT NULL,
    last_used_at    BIGINT       NULL,
    expires_at      BIGINT       NULL,
    revoked_at      BIGINT       NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY secret_hash (secret_hash),
    CONSTRAINT api_keys_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT api_keys_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Written in the transaction of the effect. key_hash: SHA-256 of method, path and key. body_hash: HMAC-SHA-256 of the
-- body's SHA-256, under a hash of the key; programs of version 7 and older write the SHA-256. sealed: the body contains a
-- secret that is shown once; it is sealed under a key derived from the Idempotency-Key.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    organization_id BINARY(16)   NOT NULL,
    key_hash        BINARY(32)   NOT NULL,
    body_hash       BINARY(32)   NOT NULL,
    status          SMALLINT     NOT NULL,
    location        VARCHAR(255) NULL,
    body            MEDIUMBLOB   NOT NULL,
    sealed          BOOLEAN      NOT NULL DEFAULT FALSE,
    created_at      BIGINT       NOT NULL,
    expires_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, key_hash),
    KEY expires_at (expires_at),
    CONSTRAINT idempotency_keys_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- active_job enforces "one active job per organization" (specification 8) under concurrency. active_slot is the same
-- without undoing, for programs older than version 7. work: the runner finds jobs that are validating, committing or
-- undoing and whose lease has expired, the least recently served first. revision: incremented by every change, so that
-- an UPDATE without any other change still reports its row.
CREATE TABLE IF NOT EXISTS import_jobs (
    organization_id  BINARY(16)   NOT NULL,
    id               BINARY(16)   NOT NULL,
    created_by_id    BINARY(16)   NULL,
    source           ENUM('api', 'console') NOT NULL,
    state            ENUM('staging', 'validating', 'validated', 'committing', 'completed', 'failed',
                          'canceled', 'undoing', 'undone') NOT NULL,
    active_slot      TINYINT GENERATED ALWAYS AS
                         (IF(state IN ('staging', 'validating', 'validated', 'committing'), 1, NULL)) VIRTUAL,
    active_job       TINYINT GENERATED ALWAYS AS
                         (IF(state IN ('staging', 'validating', 'validated', 'committing', 'undoing'), 1, NULL)) VIRTUAL,
    mapping          MEDIUMTEXT   NOT NULL,
    file_name        VARCHAR(255) NOT NULL,
    declared_total   INT          NOT NULL,
    staged_rows      INT          NOT NULL DEFAULT 0,
    processed_rows   INT          NOT NULL DEFAULT 0,
    valid_rows       INT          NOT NULL DEFAULT 0,
    invalid_rows     INT          NOT NULL DEFAULT 0,
    created_count    INT          NOT NULL DEFAULT 0,
    attached_count   INT          NOT NULL DEFAULT 0,
    failed_count     INT          NOT NULL DEFAULT 0,
    preview_create   INT          NOT NULL DEFAULT 0,  -- new members
    preview_attach   INT          NOT NULL DEFAULT 0,  -- written by programs of version 7 and older
    preview_merge    INT          NOT NULL DEFAULT 0,  -- existing members
    commit_requested BOOLEAN      NOT NULL DEFAULT FALSE,
    next_block       INT UNSIGNED NOT NULL DEFAULT 0,
    next_part        SMALLINT     NOT NULL DEFAULT 0,
    attempts         INT          NOT NULL DEFAULT 0,
    failure_code     VARCHAR(64)  NULL,
    failure_message  VARCHAR(255) NULL,
    lease_owner      BINARY(16)   NULL,
    lease_until      BIGINT       NOT NULL DEFAULT 0,
    served_at        BIGINT       NOT NULL DEFAULT 0,
    heartbeat_at     BIGINT       NULL,
    revision         BIGINT       NOT NULL DEFAULT 0,
    expires_at       BIGINT       NOT NULL,
    completed_at     BIGINT       NULL,
    created_at       BIGINT       NOT NULL,
    updated_at       BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY active_slot (organization_id, active_slot),
    UNIQUE KEY active_job (organization_id, active_job),
    KEY work (state, served_at),
    KEY expires_at (expires_at),
    CONSTRAINT import_jobs_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT import_jobs_created_by FOREIGN KEY (created_by_id) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What a job reports about its current state. A table of its own, because MariaDB cannot add a column online to a table
-- with an index on a virtual column. row_errors: JSON (src/rules/imports/error_counts.hpp); NULL = none.
CREATE TABLE IF NOT EXISTS import_progress (
    organization_id  BINARY(16) NOT NULL,
    job_id           BINARY(16) NOT NULL,
    phase_started_at BIGINT     NOT NULL,
    row_errors       TEXT       NULL,
    PRIMARY KEY (organization_id, job_id),
    CONSTRAINT import_progress_job FOREIGN KEY (organization_id, job_id)
        REFERENCES import_jobs (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Ended jobs whose blocks have no further use. The runner deletes the blocks in pieces, then the row.
CREATE TABLE IF NOT EXISTS import_discards (
    organization_id BINARY(16) NOT NULL,
    job_id          BINARY(16) NOT NULL,
    PRIMARY KEY (organization_id, job_id),
    CONSTRAINT import_discards_job FOREIGN KEY (organization_id, job_id)
        REFERENCES import_jobs (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What the undo of a job did: numbers of rows. A job has a row from the first call that undid it.
CREATE TABLE IF NOT EXISTS import_undos (
    organization_id  BINARY(16) NOT NULL,
    job_id           BINARY(16) NOT NULL,
    removed_count    INT        NOT NULL DEFAULT 0,
    detached_count   INT        NOT NULL DEFAULT 0,
    emptied_count    INT        NOT NULL DEFAULT 0,
    kept_count       INT        NOT NULL DEFAULT 0,
    unaffected_count INT        NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, job_id),
    CONSTRAINT import_undos_job FOREIGN KEY (organization_id, job_id)
        REFERENCES import_jobs (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Rows 500·block_no+1 … 500·(block_no+1) of a job, packed (src/rules/imports/block.hpp). A large block has several
-- parts, each under 4 MiB, numbered by the index of their first row. Readers use the counts to skip blocks.
CREATE TABLE IF NOT EXISTS import_blocks (
    organization_id BINARY(16)   NOT NULL,
    job_id          BINARY(16)   NOT NULL,
    block_no        INT UNSIGNED NOT NULL,
    part            SMALLINT     NOT NULL,
    state           ENUM('staged', 'checked', 'committed', 'undone') NOT NULL,
    row_count       SMALLINT     NOT NULL,
    valid_count     SMALLINT     NOT NULL DEFAULT 0,
    invalid_count   SMALLINT     NOT NULL DEFAULT 0,
    created_count   SMALLINT     NOT NULL DEFAULT 0,
    attached_count  SMALLINT     NOT NULL DEFAULT 0,
    merged_count    SMALLINT     NOT NULL DEFAULT 0,
    failed_count    SMALLINT     NOT NULL DEFAULT 0,
    removed_count   SMALLINT     NOT NULL DEFAULT 0,
    detached_count  SMALLINT     NOT NULL DEFAULT 0,
    emptied_count   SMALLINT     NOT NULL DEFAULT 0,
    kept_count      SMALLINT     NOT NULL DEFAULT 0,
    staged_at       BIGINT       NOT NULL,
    updated_at      BIGINT       NOT NULL,
    data            MEDIUMBLOB   NOT NULL,
    outcome         MEDIUMBLOB   NULL,
    PRIMARY KEY (organization_id, job_id, block_no, part),
    CONSTRAINT import_blocks_job FOREIGN KEY (organization_id, job_id)
        REFERENCES import_jobs (organization_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A change of all members that match a filter. active_job: at most one active job per organization. work: the runner
-- finds jobs that are validating or committing, the least recently served first. filter: JSON
-- (src/rules/member_jobs/filter.hpp). position: of the list of members, after the last unit. request_id: of the commit.
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

-- A private module: only its owner can see, version and install it. current_version_id: the version published last.
CREATE TABLE IF NOT EXISTS modules (
    organization_id    BINARY(16)   NOT NULL,
    id                 BINARY(16)   NOT NULL,
    slug               VARCHAR(63)  NOT NULL,
    name               VARCHAR(255) NOT NULL,
    vendor             VARCHAR(255) NOT NULL,
    kind               ENUM('proprietary', 'in_house', 'third_party') NOT NULL,
    status             ENUM('draft', 'published', 'deprecated') NOT NULL,
    current_version_id BINARY(16)   NULL,
    created_by         BINARY(16)   NULL,
    created_at         BIGINT       NOT NULL,
    updated_at         BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY slug (organization_id, slug),
    CONSTRAINT modules_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT modules_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- manifest: JSON as sent. It is validated against the module contract when it is published
-- (src/rules/modules/manifest.hpp). A published version never changes.
CREATE TABLE IF NOT EXISTS module_versions (
    organization_id BINARY(16)  NOT NULL,
    id              BINARY(16)  NOT NULL,
    module_id       BINARY(16)  NOT NULL,
    version         VARCHAR(64) NOT NULL,
    manifest        MEDIUMTEXT  NOT NULL,
    status          ENUM('draft', 'published') NOT NULL,
    created_by      BINARY(16)  NULL,
    published_at    BIGINT      NULL,
    created_at      BIGINT      NOT NULL,
    updated_at      BIGINT      NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY version (organization_id, module_id, version),
    KEY module (organization_id, module_id, id),
    CONSTRAINT module_versions_module FOREIGN KEY (organization_id, module_id)
        REFERENCES modules (organization_id, id),
    CONSTRAINT module_versions_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- live_slot enforces "one installation per module and organization that is not disabled" under concurrency.
-- config: JSON as shown, with "***" for secret values. config_secrets: the secret values, a sealed JSON object.
CREATE TABLE IF NOT EXISTS module_installations (
    organization_id BINARY(16) NOT NULL,
    id              BINARY(16) NOT NULL,
    module_id       BINARY(16) NOT NULL,
    version_id      BINARY(16) NOT NULL,
    status          ENUM('enabled', 'disabled', 'error') NOT NULL,
    live_slot       TINYINT GENERATED ALWAYS AS (IF(status = 'disabled', NULL, 1)) VIRTUAL,
    config          MEDIUMTEXT NOT NULL,
    config_secrets  MEDIUMBLOB NULL,
    installed_by    BINARY(16) NULL,
    installed_at    BIGINT     NOT NULL,
    created_at      BIGINT     NOT NULL,
    updated_at      BIGINT     NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY live_slot (organization_id, module_id, live_slot),
    KEY version (organization_id, version_id),
    CONSTRAINT module_installations_module FOREIGN KEY (organization_id, module_id)
        REFERENCES modules (organization_id, id),
    CONSTRAINT module_installations_version FOREIGN KEY (organization_id, version_id)
        REFERENCES module_versions (organization_id, id),
    CONSTRAINT module_installations_installed_by FOREIGN KEY (installed_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A credential of a module's backend (mk_live_…), stored as SHA-256, and its signing secret. The signing secret is
-- sealed, not hashed, because checking a signature requires it.
CREATE TABLE IF NOT EXISTS module_credentials (
    organization_id BINARY(16)     NOT NULL,
    id              BINARY(16)     NOT NULL,
    installation_id BINARY(16)     NOT NULL,
    name            VARCHAR(255)   NOT NULL,
    secret_hash     BINARY(32)     NOT NULL,
    last_four       CHAR(4)        NOT NULL,
    signing_secret  VARBINARY(255) NOT NULL,
    created_by      BINARY(16)     NULL,
    created_at      BIGINT         NOT NULL,
    last_used_at    BIGINT         NULL,
    expires_at      BIGINT         NULL,
    revoked_at      BIGINT         NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY secret_hash (secret_hash),
    KEY installation (organization_id, installation_id, id),
    KEY revoked_at (revoked_at),
    CONSTRAINT module_credentials_installation FOREIGN KEY (organization_id, installation_id)
        REFERENCES module_installations (organization_id, id),
    CONSTRAINT module_credentials_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Keys for web pages (ek_live_…, ck_live_…). They are public and stored in clear. allowed_origins: canonical, separated
-- by spaces. If rate or burst is NULL, the installation's default applies; content keys have none.
CREATE TABLE IF NOT EXISTS publishable_keys (
    organization_id BINARY(16)     NOT NULL,
    id              BINARY(16)     NOT NULL,
    kind            ENUM('tracking', 'content') NOT NULL,
    name            VARCHAR(255)   NOT NULL,
    token           VARBINARY(64)  NOT NULL,
    allowed_origins TEXT           NOT NULL,
    rate_per_second INT            NULL,
    burst           INT            NULL,
    created_by      BINARY(16)     NULL,
    created_at      BIGINT         NOT NULL,
    last_used_at    BIGINT         NULL,
    expires_at      BIGINT         NULL,
    revoked_at      BIGINT         NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY token (token),
    KEY revoked_at (revoked_at),
    CONSTRAINT publishable_keys_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT publishable_keys_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Actions of members and visitors, pushed by modules (ingest) or tracked by web pages (track). member_id: the
-- membership, the only link from an event to a person. After the membership is removed, the event cannot be linked to
-- the person, and a new membership has a new id. So there is no foreign key. tags: a JSON array. metadata: any JSON;
-- NULL if none was sent. member_events: a member's events by time, read backwards. client_event_id: the page's id of a
-- tracked event, and the module's id of an event that was ingested before version 8. ingest_event_id: the module's id of
-- an ingested event.
CREATE TABLE IF NOT EXISTS engagement_events (
    organization_id BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    member_id       BINARY(16)   NULL,
    installation_id BINARY(16)   NULL,
    type            VARCHAR(128) NULL,
    action          VARCHAR(128) NOT NULL,
    tags            TEXT         NOT NULL,
    metadata        MEDIUMTEXT   NULL,
    client_event_id VARCHAR(128) NULL,
    ingest_event_id VARCHAR(128) NULL,
    occurred_at     BIGINT       NOT NULL,
    received_at     BIGINT       NOT NULL,
    geo_country     CHAR(2)      NULL,
    geo_region      VARCHAR(64)  NULL,
    anonymous_id    VARCHAR(128) NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY client_event (organization_id, client_event_id),
    UNIQUE KEY ingest_event (organization_id, installation_id, ingest_event_id),
    KEY member_events (organization_id, member_id, occurred_at, id),
    CONSTRAINT engagement_events_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT engagement_events_installation FOREIGN KEY (organization_id, installation_id)
        REFERENCES module_installations (organization_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The webhook endpoints of installations. secret: whsec_…, sealed. After a rotation, previous_secret signs as well until
-- its overlap ends; after a second one, so does older_secret. failing_since: the first failure since the last success.
-- backlog_dropped_at: when deliveries were last dropped because too many waited. indexed_at: updated_at when the rows of
-- webhook_subscriptions were written; NULL: they do not exist, and event_types is read.
-- removed_at: a deleted endpoint, which is invisible; the purge deletes its deliveries in pieces and then the row.
CREATE TABLE IF NOT EXISTS webhook_endpoints (
    organization_id       BINARY(16)     NOT NULL,
    id                    BINARY(16)     NOT NULL,
    installation_id       BINARY(16)     NOT NULL,
    url                   VARCHAR(2048)  NOT NULL,
    description           VARCHAR(255)   NULL,
    event_types           MEDIUMTEXT     NOT NULL,
    status                ENUM('active', 'paused', 'disabled') NOT NULL,
    disabled_reason       VARCHAR(64)    NULL,
    secret                VARBINARY(255) NOT NULL,
    previous_secret       VARBINARY(255) NULL,
    previous_secret_until BIGINT         NULL,
    older_secret          VARBINARY(255) NULL,
    older_secret_until    BIGINT         NULL,
    failing_since         BIGINT         NULL,
    backlog_dropped_at    BIGINT         NULL,
    removed_at            BIGINT         NULL,
    created_by            BINARY(16)     NULL,
    created_at            BIGINT         NOT NULL,
    updated_at            BIGINT         NOT NULL,
    indexed_at            BIGINT         NULL,
    PRIMARY KEY (organization_id, id),
    KEY installation (organization_id, installation_id, id),
    KEY indexed_at (organization_id, indexed_at),
    KEY removed_at (removed_at),
    CONSTRAINT webhook_endpoints_installation FOREIGN KEY (organization_id, installation_id)
        REFERENCES module_installations (organization_id, id),
    CONSTRAINT webhook_endpoints_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The endpoints that subscribe to each type of event. They follow from webhook_endpoints.event_types: a program older
-- than version 8 writes no rows, and the runner adds them (store/webhooks/subscriptions.hpp).
CREATE TABLE IF NOT EXISTS webhook_subscriptions (
    organization_id BINARY(16)   NOT NULL,
    event_type      VARCHAR(128) NOT NULL,
    endpoint_id     BINARY(16)   NOT NULL,
    PRIMARY KEY (organization_id, event_type, endpoint_id),
    KEY endpoint (organization_id, endpoint_id),
    CONSTRAINT webhook_subscriptions_endpoint FOREIGN KEY (organization_id, endpoint_id)
        REFERENCES webhook_endpoints (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Events. A row is written in the transaction of the change, one row for all endpoints that receive the event. body: the exact bytes that are signed and sent. user_id: the person whom the event concerns, for erasure. Rows
-- older than 30 days are deleted, with all deliveries.
CREATE TABLE IF NOT EXISTS webhook_events (
    organization_id BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    type            VARCHAR(128) NOT NULL,
    body            MEDIUMTEXT   NOT NULL,
    user_id         BINARY(16)   NULL,
    created_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, id),
    KEY about_user (user_id),
    KEY created_at (created_at),
    CONSTRAINT webhook_events_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Events whose deliveries do not exist yet. A row is written with its event, and deleted with the inserts of the
-- deliveries (service/webhooks/fan_out.hpp). A program older than version 8 writes deliveries at once, and no row.
CREATE TABLE IF NOT EXISTS webhook_outbox (
    organization_id BINARY(16)   NOT NULL,
    event_id        BINARY(16)   NOT NULL,
    event_type      VARCHAR(128) NOT NULL,
    created_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, event_id),
    CONSTRAINT webhook_outbox_event FOREIGN KEY (organization_id, event_id)
        REFERENCES webhook_events (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The delivery of one event to one endpoint. due_at: the time of the next attempt; during an attempt, the time at which
-- another runner may take over; NULL when no attempt remains. step: the attempts made on the retry schedule.
-- lease_owner: the runner.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
    organization_id BINARY(16) NOT NULL,
    id              BINARY(16) NOT NULL,
    endpoint_id     BINARY(16) NOT NULL,
    event_id        BINARY(16) NOT NULL,
    status          ENUM('pending', 'succeeded', 'failed', 'canceled') NOT NULL,
    step            INT        NOT NULL DEFAULT 0,
    due_at          BIGINT     NULL,
    lease_owner     BINARY(16) NULL,
    created_at      BIGINT     NOT NULL,
    updated_at      BIGINT     NOT NULL,
    PRIMARY KEY (organization_id, id),
    KEY endpoint (organization_id, endpoint_id, id),
    KEY event (organization_id, event_id),
    KEY queue (status, organization_id, endpoint_id, due_at),
    KEY status (organization_id, status, id),
    CONSTRAINT webhook_deliveries_endpoint FOREIGN KEY (organization_id, endpoint_id)
        REFERENCES webhook_endpoints (organization_id, id) ON DELETE CASCADE,
    CONSTRAINT webhook_deliveries_event FOREIGN KEY (organization_id, event_id)
        REFERENCES webhook_events (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- class: the result (src/rules/webhook_wire.hpp). status_code and excerpt: from the reply, if there was one. signature:
-- the header that was sent; NULL for attempts of programs before version 8.
CREATE TABLE IF NOT EXISTS webhook_attempts (
    organization_id BINARY(16)     NOT NULL,
    id              BINARY(16)     NOT NULL,
    delivery_id     BINARY(16)     NOT NULL,
    class           VARCHAR(32)    NOT NULL,
    status_code     SMALLINT       NULL,
    duration_ms     INT            NOT NULL,
    excerpt         VARBINARY(1024) NULL,
    signature       VARCHAR(255)   NULL,
    created_at      BIGINT         NOT NULL,
    PRIMARY KEY (organization_id, id),
    KEY delivery (organization_id, delivery_id, id),
    CONSTRAINT webhook_attempts_delivery FOREIGN KEY (organization_id, delivery_id)
        REFERENCES webhook_deliveries (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The results of an endpoint by hour (hours since 1970). slot: the hour modulo 25, so that a row is used again a day
-- later. last_succeeded_at is kept then: the latest of all rows is that of the endpoint. There is no foreign key to the
-- endpoint, because an insert would wait for transactions that have locked it.
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

-- The total number of attempts by class, for monitoring. The totals only grow, while attempts are deleted.
CREATE TABLE IF NOT EXISTS webhook_attempt_totals (
    class    VARCHAR(32) NOT NULL,
    attempts BIGINT      NOT NULL,
    PRIMARY KEY (class)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Ads. A slot is a place on a page; the creatives of a campaign are shown in its slots. targeting: a JSON object.
-- Deleting a campaign deletes all dependent rows except ad_member_days.
CREATE TABLE IF NOT EXISTS ad_slots (
    organization_id BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    slug            VARCHAR(63)  NOT NULL,
    name            VARCHAR(255) NOT NULL,
    width           INT          NOT NULL,
    height          INT          NOT NULL,
    created_at      BIGINT       NOT NULL,
    updated_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY slug (organization_id, slug),
    CONSTRAINT ad_slots_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ad_campaigns (
    organization_id   BINARY(16)   NOT NULL,
    id                BINARY(16)   NOT NULL,
    name              VARCHAR(255) NOT NULL,
    status            ENUM('active', 'paused') NOT NULL,
    starts_at         BIGINT       NOT NULL,
    ends_at           BIGINT       NULL,
    weight            INT          NOT NULL,
    daily_impressions INT          NULL,
    frequency_cap     INT          NULL,
    targeting         TEXT         NOT NULL,
    created_at        BIGINT       NOT NULL,
    updated_at        BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT ad_campaigns_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ad_campaign_slots (
    organization_id BINARY(16) NOT NULL,
    slot_id         BINARY(16) NOT NULL,
    campaign_id     BINARY(16) NOT NULL,
    PRIMARY KEY (organization_id, slot_id, campaign_id),
    KEY campaign (organization_id, campaign_id, slot_id),
    CONSTRAINT ad_campaign_slots_slot FOREIGN KEY (organization_id, slot_id)
        REFERENCES ad_slots (organization_id, id),
    CONSTRAINT ad_campaign_slots_campaign FOREIGN KEY (organization_id, campaign_id)
        REFERENCES ad_campaigns (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ad_creatives (
    organization_id BINARY(16)    NOT NULL,
    id              BINARY(16)    NOT NULL,
    campaign_id     BINARY(16)    NOT NULL,
    kind            ENUM('image', 'html') NOT NULL,
    image_url       VARCHAR(2048) NULL,
    html            MEDIUMTEXT    NULL,
    alt             VARCHAR(255)  NULL,
    width           INT           NOT NULL,
    height          INT           NOT NULL,
    landing_url     VARCHAR(2048) NOT NULL,
    created_at      BIGINT        NOT NULL,
    updated_at      BIGINT        NOT NULL,
    PRIMARY KEY (organization_id, id),
    KEY campaign (organization_id, campaign_id, id),
    CONSTRAINT ad_creatives_campaign FOREIGN KEY (organization_id, campaign_id)
        REFERENCES ad_campaigns (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The servings, impressions and clicks of a campaign per day (UTC, days since 1970). Signed tokens report impressions
-- and clicks.
CREATE TABLE IF NOT EXISTS ad_campaign_days (
    organization_id BINARY(16) NOT NULL,
    campaign_id     BINARY(16) NOT NULL,
    day             INT        NOT NULL,
    served          BIGINT     NOT NULL DEFAULT 0,
    returned_at     BIGINT     NOT NULL DEFAULT 0,
    impressions     BIGINT     NOT NULL DEFAULT 0,
    clicks          BIGINT     NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, campaign_id, day),
    CONSTRAINT ad_campaign_days_campaign FOREIGN KEY (organization_id, campaign_id)
        REFERENCES ad_campaigns (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- How often a campaign was shown to a member on a day, for the frequency cap. Purged after the day, and deleted with
-- the membership (the index `member` serves erasure). There is no foreign key to the campaign: deleting a campaign
-- would delete a row per member, and serving its ads would wait for that.
CREATE TABLE IF NOT EXISTS ad_member_days (
    organization_id BINARY(16) NOT NULL,
    campaign_id     BINARY(16) NOT NULL,
    member_id       BINARY(16) NOT NULL,
    day             INT        NOT NULL,
    shown           INT        NOT NULL,
    PRIMARY KEY (organization_id, campaign_id, member_id, day),
    KEY member (organization_id, member_id),
    KEY day (day),
    CONSTRAINT ad_member_days_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Redeemed tokens; the primary key prevents counting a token twice. Purged after the tokens have expired.
CREATE TABLE IF NOT EXISTS ad_redemptions (
    organization_id BINARY(16) NOT NULL,
    serving_id      BINARY(16) NOT NULL,
    kind            ENUM('impression', 'click') NOT NULL,
    redeemed_at     BIGINT     NOT NULL,
    PRIMARY KEY (organization_id, serving_id, kind),
    KEY redeemed_at (redeemed_at),
    CONSTRAINT ad_redemptions_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Articles. published_at is NULL in a draft, so the indexes for readers contain only published articles. Each index
-- serves one order of the list: newest first, newest of a locale, by title (ignores case and accents).
CREATE TABLE IF NOT EXISTS articles (
    organization_id BINARY(16)    NOT NULL,
    id              BINARY(16)    NOT NULL,
    slug            VARCHAR(128)  NOT NULL,
    title           VARCHAR(255)  COLLATE utf8mb4_general_ci NOT NULL,
    excerpt         TEXT          NULL,
    body_html       MEDIUMTEXT    NOT NULL,
    locale          VARCHAR(35)   NULL,
    tags            TEXT          NOT NULL,
    author          VARCHAR(255)  NULL,
    cover_url       VARCHAR(2048) NULL,
    published_at    BIGINT        NULL,
    created_by      BINARY(16)    NULL,
    created_at      BIGINT        NOT NULL,
    updated_at      BIGINT        NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY slug (organization_id, slug),
    KEY published (organization_id, published_at, id),
    KEY published_locale (organization_id, locale, published_at, id),
    KEY title (organization_id, title, id),
    CONSTRAINT articles_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT articles_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- published_at: a copy of the article's, so that one index gives the order of a tag's list.
CREATE TABLE IF NOT EXISTS article_tags (
    organization_id BINARY(16)  NOT NULL,
    article_id      BINARY(16)  NOT NULL,
    tag             VARCHAR(64) NOT NULL,
    published_at    BIGINT      NULL,
    PRIMARY KEY (organization_id, article_id, tag),
    KEY tagged (organization_id, tag, published_at, article_id),
    CONSTRAINT article_tags_article FOREIGN KEY (organization_id, article_id)
        REFERENCES articles (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Connections to providers of external data (src/rules/connections/providers.hpp). host: for providers with one host
-- per customer. tokens: sealed. token_generation: incremented with each change of the tokens, so that only one of two
-- runners that refresh the same tokens writes. details: values that the provider sent with the tokens. refresh_due_at:
-- the next action of the runner. removed_at: the connection was deleted and is kept until its tokens are revoked. KEY
-- status: for the metrics.
CREATE TABLE IF NOT EXISTS connections (
    organization_id    BINARY(16)    NOT NULL,
    id                 BINARY(16)    NOT NULL,
    provider           VARCHAR(32)   NOT NULL,
    name               VARCHAR(255)  NOT NULL,
    host               VARCHAR(255)  NOT NULL,
    status             ENUM('pending', 'connected', 'expired', 'revoked', 'error') NOT NULL,
    error              VARCHAR(255)  NULL,
    tokens             BLOB          NULL,
    token_generation   BIGINT        NOT NULL DEFAULT 0,
    details            TEXT          NOT NULL,
    access_expires_at  BIGINT        NULL,
    refresh_due_at     BIGINT        NULL,
    refresh_attempts   INT           NOT NULL DEFAULT 0,
    refreshed_at       BIGINT        NULL,
    lease_owner        BINARY(16)    NULL,
    lease_until        BIGINT        NOT NULL DEFAULT 0,
    removed_at         BIGINT        NULL,
    created_by         BINARY(16)    NULL,
    created_at         BIGINT        NOT NULL,
    updated_at         BIGINT        NOT NULL,
    PRIMARY KEY (organization_id, id),
    KEY refresh_due_at (refresh_due_at, provider, lease_until),
    KEY status (status, removed_at),
    CONSTRAINT connections_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT connections_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A pending authorization of an admin at a provider, at most one per connection. state_hash finds it, once. verifier
-- (RFC 7636) is sealed.
CREATE TABLE IF NOT EXISTS connection_authorizations (
    organization_id BINARY(16)     NOT NULL,
    connection_id   BINARY(16)     NOT NULL,
    state_hash      BINARY(32)     NOT NULL,
    session_id      BINARY(16)     NOT NULL,
    verifier        VARBINARY(255) NOT NULL,
    redirect_uri    VARCHAR(512)   NOT NULL,
    expires_at      BIGINT         NOT NULL,
    PRIMARY KEY (organization_id, connection_id),
    UNIQUE KEY state_hash (state_hash),
    KEY expires_at (expires_at),
    CONSTRAINT connection_authorizations_connection FOREIGN KEY (organization_id, connection_id)
        REFERENCES connections (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
