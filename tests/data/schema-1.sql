-- Muster's schema, version 1. `musterctl db init` runs it statement by statement (each ends with `;` at a line's end).
-- MariaDB 10.11 and MySQL 8 take it alike.
--
-- Times are BIGINT milliseconds since 1970 UTC: no time zone, no fraction format, no year 2038.
-- Ids are UUIDv7 as BINARY(16): ascending, so that inserts append. Each tenant table's primary key begins with
-- organization_id, and foreign keys between tenant tables carry it, so that no row can point into another tenant.

CREATE TABLE IF NOT EXISTS schema_version (
    version    INT UNSIGNED NOT NULL,
    applied_at BIGINT       NOT NULL,
    PRIMARY KEY (version)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS organizations (
    id         BINARY(16)   NOT NULL,
    name       VARCHAR(255) NOT NULL,
    created_at BIGINT       NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The global identity. Binary collation: addresses are lower-cased (ASCII) before they come here, and two that
-- differ otherwise are two.
CREATE TABLE IF NOT EXISTS users (
    id         BINARY(16)   NOT NULL,
    email      VARCHAR(254) NOT NULL,
    created_at BIGINT       NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY email (email)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What one organization knows of a user. An absent value is NULL, never ''.
-- attributes: {"key": [value, provenance, milliseconds], …}; a document in the row costs a third of the index
-- writes of a row per value, and filling gaps is JSON_MERGE_PATCH(new, existing). TEXT, not JSON: MariaDB's JSON
-- adds a check per row that the application has already made.
CREATE TABLE IF NOT EXISTS members (
    organization_id BINARY(16)   NOT NULL,
    user_id         BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    external_id     VARCHAR(255) NULL,
    first_name      VARCHAR(255) NULL,
    last_name       VARCHAR(255) NULL,
    display_name    VARCHAR(255) NULL,
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
    KEY external_id (organization_id, external_id),
    CONSTRAINT members_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT members_user FOREIGN KEY (user_id) REFERENCES users (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The registry of specification 2.2. choices: JSON array of strings, NULL for types without.
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

CREATE TABLE IF NOT EXISTS admins (
    id         BINARY(16)   NOT NULL,
    email      VARCHAR(254) NOT NULL,
    created_at BIGINT       NOT NULL,
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

-- Secrets are stored as SHA-256 only; they have 256 random bits, so a fast hash is enough.
CREATE TABLE IF NOT EXISTS api_keys (
    organization_id BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    name            VARCHAR(255) NOT NULL,
    secret_hash     BINARY(32)   NOT NULL,
    last_four       CHAR(4)      NOT NULL,
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

-- Written in the transaction of the effect. key_hash: SHA-256 of method, path and key.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    organization_id BINARY(16)   NOT NULL,
    key_hash        BINARY(32)   NOT NULL,
    body_hash       BINARY(32)   NOT NULL,
    status          SMALLINT     NOT NULL,
    location        VARCHAR(255) NULL,
    body            MEDIUMBLOB   NOT NULL,
    created_at      BIGINT       NOT NULL,
    expires_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, key_hash),
    KEY expires_at (expires_at),
    CONSTRAINT idempotency_keys_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- active_slot holds the rule "one active job an organization" (specification 8) against any race.
-- work: the runner scans for jobs in a moving state whose lease ran out, the longest unserved first.
-- revision: counts every change, so that an UPDATE that changes nothing else still reports its row.
CREATE TABLE IF NOT EXISTS import_jobs (
    organization_id  BINARY(16)   NOT NULL,
    id               BINARY(16)   NOT NULL,
    created_by_id    BINARY(16)   NULL,
    source           ENUM('api', 'console') NOT NULL,
    state            ENUM('staging', 'validating', 'validated', 'committing', 'completed', 'failed',
                          'canceled') NOT NULL,
    active_slot      TINYINT GENERATED ALWAYS AS
                         (IF(state IN ('staging', 'validating', 'validated', 'committing'), 1, NULL)) VIRTUAL,
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
    preview_create   INT          NOT NULL DEFAULT 0,
    preview_attach   INT          NOT NULL DEFAULT 0,
    preview_merge    INT          NOT NULL DEFAULT 0,
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
    KEY work (state, served_at),
    KEY expires_at (expires_at),
    CONSTRAINT import_jobs_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT import_jobs_created_by FOREIGN KEY (created_by_id) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Rows 500·block_no+1 … 500·(block_no+1) of a job, packed (src/rules/import_block.hpp); a heavy block has
-- several parts, each under 4 MiB, numbered by the place of their first row. The counts tell readers which blocks they can skip.
CREATE TABLE IF NOT EXISTS import_blocks (
    organization_id BINARY(16)   NOT NULL,
    job_id          BINARY(16)   NOT NULL,
    block_no        INT UNSIGNED NOT NULL,
    part            SMALLINT     NOT NULL,
    state           ENUM('staged', 'checked', 'committed') NOT NULL,
    row_count       SMALLINT     NOT NULL,
    valid_count     SMALLINT     NOT NULL DEFAULT 0,
    invalid_count   SMALLINT     NOT NULL DEFAULT 0,
    created_count   SMALLINT     NOT NULL DEFAULT 0,
    attached_count  SMALLINT     NOT NULL DEFAULT 0,
    merged_count    SMALLINT     NOT NULL DEFAULT 0,
    failed_count    SMALLINT     NOT NULL DEFAULT 0,
    staged_at       BIGINT       NOT NULL,
    updated_at      BIGINT       NOT NULL,
    data            MEDIUMBLOB   NOT NULL,
    outcome         MEDIUMBLOB   NULL,
    PRIMARY KEY (organization_id, job_id, block_no, part),
    CONSTRAINT import_blocks_job FOREIGN KEY (organization_id, job_id)
        REFERENCES import_jobs (organization_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
