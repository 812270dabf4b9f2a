-- From version 4 to 5: connections to providers of external data. Rules: 2.sql.
CREATE TABLE connections (
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

CREATE TABLE connection_authorizations (
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
