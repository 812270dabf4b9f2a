-- From version 2 to 3: modules, their installations and credentials, engagement events, webhooks. Rules: 2.sql.
CREATE TABLE modules (
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

CREATE TABLE module_versions (
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

CREATE TABLE module_installations (
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

CREATE TABLE module_credentials (
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

CREATE TABLE engagement_events (
    organization_id BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    member_id       BINARY(16)   NULL,
    installation_id BINARY(16)   NULL,
    type            VARCHAR(128) NULL,
    action          VARCHAR(128) NOT NULL,
    tags            TEXT         NOT NULL,
    metadata        MEDIUMTEXT   NULL,
    client_event_id VARCHAR(128) NULL,
    occurred_at     BIGINT       NOT NULL,
    received_at     BIGINT       NOT NULL,
    geo_country     CHAR(2)      NULL,
    geo_region      VARCHAR(64)  NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY client_event (organization_id, client_event_id),
    KEY member_events (organization_id, member_id, occurred_at, id),
    CONSTRAINT engagement_events_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT engagement_events_installation FOREIGN KEY (organization_id, installation_id)
        REFERENCES module_installations (organization_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE webhook_endpoints (
    organization_id       BINARY(16)     NOT NULL,
    id                    BINARY(16)     NOT NULL,
    installation_id       BINARY(16)     NOT NULL,
    url                   VARCHAR(2048)  NOT NULL,
    event_types           MEDIUMTEXT     NOT NULL,
    status                ENUM('active', 'paused', 'disabled') NOT NULL,
    disabled_reason       VARCHAR(64)    NULL,
    secret                VARBINARY(255) NOT NULL,
    previous_secret       VARBINARY(255) NULL,
    previous_secret_until BIGINT         NULL,
    failing_since         BIGINT         NULL,
    created_by            BINARY(16)     NULL,
    created_at            BIGINT         NOT NULL,
    updated_at            BIGINT         NOT NULL,
    PRIMARY KEY (organization_id, id),
    KEY installation (organization_id, installation_id, id),
    CONSTRAINT webhook_endpoints_installation FOREIGN KEY (organization_id, installation_id)
        REFERENCES module_installations (organization_id, id),
    CONSTRAINT webhook_endpoints_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE webhook_events (
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

CREATE TABLE webhook_deliveries (
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
    CONSTRAINT webhook_deliveries_endpoint FOREIGN KEY (organization_id, endpoint_id)
        REFERENCES webhook_endpoints (organization_id, id) ON DELETE CASCADE,
    CONSTRAINT webhook_deliveries_event FOREIGN KEY (organization_id, event_id)
        REFERENCES webhook_events (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE webhook_attempts (
    organization_id BINARY(16)     NOT NULL,
    id              BINARY(16)     NOT NULL,
    delivery_id     BINARY(16)     NOT NULL,
    class           VARCHAR(32)    NOT NULL,
    status_code     SMALLINT       NULL,
    duration_ms     INT            NOT NULL,
    excerpt         VARBINARY(1024) NULL,
    created_at      BIGINT         NOT NULL,
    PRIMARY KEY (organization_id, id),
    KEY delivery (organization_id, delivery_id, id),
    CONSTRAINT webhook_attempts_delivery FOREIGN KEY (organization_id, delivery_id)
        REFERENCES webhook_deliveries (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The total number of attempts by class, for monitoring. The totals only grow, while attempts are deleted.
CREATE TABLE webhook_attempt_totals (
    class    VARCHAR(32) NOT NULL,
    attempts BIGINT      NOT NULL,
    PRIMARY KEY (class)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

ALTER TABLE audit_log MODIFY actor ENUM('admin', 'operator', 'system') NOT NULL;

ALTER TABLE guess_budgets MODIFY kind ENUM('otp_request', 'otp_verify', 'webhook_notice') NOT NULL;
