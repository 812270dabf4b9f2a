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
ALTER TABLE guess_budgets
    MODIFY COLUMN kind ENUM('otp_request', 'otp_verify', 'webhook_notice', 'security_notice') NOT NULL,
    ALGORITHM = INSTANT;
