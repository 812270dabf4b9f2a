-- From version 7 to 8: bounds per organization, growing pauses of the second factor. Rules: 2.sql.
-- oldest program: 6
ALTER TABLE admins
    ADD COLUMN second_factor_pauses INT NOT NULL DEFAULT 0 AFTER second_factor_failures,
    ALGORITHM = INSTANT;
ALTER TABLE webhook_endpoints
    ADD COLUMN older_secret VARBINARY(255) NULL AFTER previous_secret_until,
    ADD COLUMN older_secret_until BIGINT NULL AFTER older_secret,
    ALGORITHM = INSTANT;
