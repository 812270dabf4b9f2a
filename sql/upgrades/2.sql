-- From version 1 to 2: admin sign-in, members that can be searched, rates and sealed replays.
-- `musterctl db migrate` runs each statement in turn (src/service/operations/schema.cpp).
--
-- Rules for upgrades:
-- * An upgrade may be run again after an interruption at any statement. The program ignores the errors that show
--   that a statement was already run: a table, column or key exists, or does not exist and cannot be dropped. The
--   engine runs all clauses of an ALTER or none. So each ALTER must have a clause that fails the second time, or be
--   idempotent.
-- * An UPDATE is repeated until it changes no row. It needs a LIMIT, so that no transaction grows with the table.
-- * A name that a file drops must not be used again in the same file.
-- From version 6, also (tests/db/upgrade_rules_test.cpp):
-- * A line "-- oldest program: N" names the oldest programs, as the version that they were written for, that work
--   with the schema during and after the upgrade. It keeps the value of the previous version if the upgrade only
--   adds: tables, columns that may be NULL or have a default, indexes, choices of an ENUM that older programs are
--   not shown. sql/schema.sql has the same line.
-- * Programs write to all tables during an upgrade. So each ALTER names its method: ALGORITHM = INSTANT (without
--   LOCK, which MySQL rejects there), or ALGORITHM = INPLACE, LOCK = NONE. A change that needs a copy of the table
--   then fails and must be written in another way. Tried on MariaDB 10.11. INSTANT: ADD, DROP, RENAME COLUMN, a
--   virtual column, a default, more choices at the end of an ENUM. INPLACE: keys (DROP KEY is never INSTANT),
--   allowing NULL, a longer VARCHAR, but not from up to 63 characters to more (the length needs a second byte). Only
--   by copying: a foreign key (unless the session does not check foreign keys), a STORED column, a CHECK, another
--   type, the order of an ENUM, a collation.
-- * For any other change: add a new column, fill it by UPDATEs, and drop the old column in a later version.
ALTER TABLE members
    MODIFY COLUMN first_name VARCHAR(255) COLLATE utf8mb4_general_ci NULL,
    MODIFY COLUMN last_name VARCHAR(255) COLLATE utf8mb4_general_ci NULL,
    MODIFY COLUMN display_name VARCHAR(255) COLLATE utf8mb4_general_ci NULL,
    ADD COLUMN email VARCHAR(254) COLLATE utf8mb4_general_ci NOT NULL DEFAULT '' AFTER id,
    ADD COLUMN search_name VARCHAR(511) COLLATE utf8mb4_general_ci GENERATED ALWAYS AS
        (COALESCE(display_name, CONCAT_WS(' ', first_name, last_name))) STORED AFTER display_name;
-- The index for the UPDATE, which would otherwise read the table from the start for each batch.
ALTER TABLE members ADD KEY email_unset (email);
UPDATE members FORCE INDEX (email_unset) SET email = (SELECT users.email FROM users WHERE users.id = members.user_id)
    WHERE email = '' LIMIT 5000;
ALTER TABLE members DROP KEY email_unset;
ALTER TABLE members ALTER COLUMN email DROP DEFAULT;
ALTER TABLE members
    DROP KEY external_id,
    ADD KEY external_id_user (organization_id, external_id, user_id),
    ADD KEY email (organization_id, email, user_id),
    ADD KEY search_name (organization_id, search_name, user_id),
    ADD KEY last_name (organization_id, last_name, user_id),
    ADD KEY updated_at (organization_id, updated_at, user_id),
    ADD KEY status (organization_id, status, user_id);
ALTER TABLE admins
    ADD COLUMN totp_secret VARBINARY(255) NULL AFTER email,
    ADD COLUMN totp_enrolled_at BIGINT NULL AFTER totp_secret,
    ADD COLUMN totp_last_step BIGINT NOT NULL DEFAULT 0 AFTER totp_enrolled_at,
    ADD COLUMN second_factor_failures INT NOT NULL DEFAULT 0 AFTER totp_last_step,
    ADD COLUMN second_factor_paused_until BIGINT NOT NULL DEFAULT 0 AFTER second_factor_failures;
ALTER TABLE api_keys
    ADD COLUMN rate_per_second INT NULL AFTER last_four,
    ADD COLUMN burst INT NULL AFTER rate_per_second;
ALTER TABLE idempotency_keys ADD COLUMN sealed BOOLEAN NOT NULL DEFAULT FALSE AFTER body;
CREATE TABLE IF NOT EXISTS backup_codes (
    admin_id   BINARY(16) NOT NULL,
    code_hash  BINARY(32) NOT NULL,
    created_at BIGINT     NOT NULL,
    PRIMARY KEY (admin_id, code_hash),
    CONSTRAINT backup_codes_admin FOREIGN KEY (admin_id) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS sessions (
    id                     BINARY(16) NOT NULL,
    token_hash             BINARY(32) NOT NULL,
    admin_id               BINARY(16) NOT NULL,
    active_organization_id BINARY(16) NOT NULL,
    verified_at            BIGINT     NULL,
    created_at             BIGINT     NOT NULL,
    last_used_at           BIGINT     NOT NULL,
    expires_at             BIGINT     NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY token_hash (token_hash),
    KEY admin (admin_id),
    KEY expires_at (expires_at),
    CONSTRAINT sessions_admin FOREIGN KEY (admin_id) REFERENCES admins (id),
    CONSTRAINT sessions_organization FOREIGN KEY (active_organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS otp_codes (
    subject    BINARY(32) NOT NULL,
    code_hash  BINARY(32) NOT NULL,
    failures   INT        NOT NULL DEFAULT 0,
    expires_at BIGINT     NOT NULL,
    PRIMARY KEY (subject),
    KEY expires_at (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS guess_budgets (
    kind       ENUM('otp_request', 'otp_verify') NOT NULL,
    subject    BINARY(32)     NOT NULL,
    spent      VARBINARY(512) NOT NULL,
    expires_at BIGINT         NOT NULL,
    PRIMARY KEY (kind, subject),
    KEY expires_at (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
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
CREATE TABLE IF NOT EXISTS audit_log (
    organization_id BINARY(16)   NULL,
    id              BINARY(16)   NOT NULL,
    actor           ENUM('admin', 'operator') NOT NULL,
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
